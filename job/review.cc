#include "job/review.h"

#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/s3_location.h"
#include "base/sha256.h"
#include "base/status.h"
#include "job/defaults.h"
#include "job/limits.h"
#include "job/program_review.h"
#include "job/review_work.h"
#include "job/text_forms.h"
#include "model/spec/batch_tokens.h"
#include "model/spec/model_config.h"

namespace skerry::job {
namespace {

using Problems = SpecProblems;

bool IsPath(std::string_view path) {
  return !path.empty() && path.size() <= kPathBytesMax &&
         path.find('\0') == std::string_view::npos;
}

bool IsWholePath(std::string_view path) {
  return IsPath(path) && path.starts_with('/');
}

// A whole path, or a place in an object store.
void ReviewPlace(const std::string& place, std::string_view field,
                 std::string_view what, Problems& problems) {
  if (!IsS3Place(place)) {
    problems.Require(IsWholePath(place), field, what);
  } else if (const auto read = ParseS3Location(place); !read.ok()) {
    problems.Add(field, std::string(read.status().message()));
  }
}

// Whether `name` begins with a dash. If so, adds the problem.
bool BeginsAsOption(const std::string& name, std::string_view field,
                    Problems& problems) {
  if (!name.starts_with('-')) return false;
  problems.Add(
      field,
      absl::StrCat("has to begin with a letter or a digit, not ", Quoted(name),
                   ": commands take a dash for an option"));
  return true;
}

void ReviewName(const std::string& name, Problems& problems) {
  if (BeginsAsOption(name, "name", problems) || IsLabel(name, "")) return;
  problems.Add("name", absl::StrCat("has to be 1 to ", kLabelBytesMax,
                                    " lower-case letters, digits and dashes, "
                                    "not ",
                                    Quoted(name)));
}

std::optional<model::ModelConfig> ReviewModel(const std::string& config_json,
                                              Problems& problems) {
  constexpr char kField[] = "model.config_json";
  if (config_json.empty()) {
    problems.Add(kField,
                 "is not set; give the model's config.json, in a job file with "
                 "model.config_file");
    return std::nullopt;
  }
  if (config_json.size() > kConfigBytesMax) {
    problems.Between(kField, config_json.size(), size_t{1}, kConfigBytesMax,
                     "it counts bytes");
    return std::nullopt;
  }
  absl::StatusOr<model::ModelConfig> config =
      model::ParseModelConfig(config_json);
  if (config.ok()) return *std::move(config);
  const absl::string_view why = config.status().message();
  problems.Add(kField, std::string_view(why.data(), why.size()));
  return std::nullopt;
}

// What is above the bounds of rows and of tokens has a problem of its own.
void ReviewBatchTokens(const JobSpec& spec, const model::ModelConfig& config,
                       Problems& problems) {
  const uint64_t rows = *spec.training.micro_batch_samples;
  const uint64_t tokens = *spec.data.sequence_tokens;
  if (rows > kMicroBatchMax) return;
  if (tokens < 1 || tokens > static_cast<uint64_t>(config.positions_max())) {
    return;
  }
  const uint64_t rows_max = uint64_t{model::kBatchTokensMax} / tokens;
  if (rows <= rows_max) return;
  const std::string why = absl::StrCat(
      "is ", rows, ", and with sequences of ", tokens,
      " tokens a trainer computes at most ", rows_max, " rows at once; ");
  if (rows == spec.training.batch_samples) {
    problems.Add("training.batch_samples",
                 why +
                     "lower it, or set training.micro_batch_samples to what "
                     "fits in memory");
  } else {
    problems.Add("training.micro_batch_samples", why + "lower it");
  }
}

// Reads the model, fills the defaults, and checks what depends on the model.
void ReviewModelAndFill(JobSpec& spec, Problems& problems) {
  if (spec.model.program.has_value()) {
    ReviewProgram(spec.model, problems);
    FillDefaults(0, spec);
    return;
  }
  const auto config = ReviewModel(spec.model.config_json, problems);
  FillDefaults(config ? static_cast<uint32_t>(config->n_positions) : 0, spec);
  if (!config) return;
  problems.Between("data.sequence_tokens", *spec.data.sequence_tokens, 1u,
                   static_cast<uint32_t>(config->positions_max()),
                   "it ends with the model's context");
  ReviewBatchTokens(spec, *config, problems);
}

void ReviewData(const JobSpec::Data& data, Problems& problems) {
  constexpr char kForPrograms[] =
      "is for jobs with model.program; the data set's manifest says it";
  problems.Require(data.id.empty(), "data.id", kForPrograms);
  problems.Require(!data.samples.has_value(), "data.samples", kForPrograms);
  if (IsS3Place(data.path)) {
    ReviewPlace(data.path, "data.path", "", problems);
  } else {
    problems.Require(IsPath(data.path), "data.path",
                     "has to name the folder that `skerryctl data prepare` "
                     "made, or s3://BUCKET/PREFIX");
  }
  // The hash is that of the folder, so one problem is enough.
  if (data.path.empty() && data.manifest_sha256.empty()) return;
  problems.Require(IsSha256Hex(data.manifest_sha256), "data.manifest_sha256",
                   absl::StrCat("has to be 64 lower-case hex digits, not ",
                                Quoted(data.manifest_sha256),
                                "; skerryctl fills it in when it is left out"));
}

void ReviewConsumed(const JobSpec& spec, Problems& problems) {
  const data::RangeSet consumed = ConsumedBefore(spec);
  if (consumed.empty()) {
    problems.Add("model.checkpoint.samples",
                 "is go_on, but the checkpoint does not say which samples it "
                 "has taken in; use anew, or a checkpoint of a job that says");
  } else if (consumed.ranges().back().end > spec.training.samples) {
    problems.Add("training.samples",
                 absl::StrCat("is below sample ", consumed.ranges().back().end,
                              ", which the checkpoint has taken in; raise it, "
                              "or set model.checkpoint.samples to anew"));
  } else if (consumed.total() == spec.training.samples) {
    problems.Add("training.samples",
                 "are all in the checkpoint: nothing is left to train on; "
                 "raise it, or set model.checkpoint.samples to anew");
  }
}

void ReviewCheckpoint(const JobSpec& spec, Problems& problems) {
  if (!spec.model.checkpoint.has_value()) return;
  const JobSpec::Checkpoint& from = *spec.model.checkpoint;
  if (from.name.empty()) {
    problems.Require(
        IsWholePath(from.path), "model.checkpoint.path",
        "has to be the whole path of a folder that every worker reads");
  } else {
    ReviewPlace(from.path, "model.checkpoint.path",
                "has to be the whole path of a folder that every worker reads, "
                "or s3://BUCKET/PREFIX",
                problems);
  }
  problems.Require(!spec.model.program.has_value() || !from.name.empty(),
                   "model.checkpoint.name",
                   "is needed: a job with a program starts from a checkpoint "
                   "of a job, and the program itself can load other weights");
  problems.Require(from.name != "newest", "model.checkpoint.name",
                   "has to be checkpoint-SEQUENCE; skerryctl looks up newest");
  problems.Require(IsSha256Hex(from.sha256), "model.checkpoint.sha256",
                   "has to be 64 lower-case hex digits; skerryctl fills it in "
                   "at submit");
  problems.Require(from.samples != Samples::kUnspecified,
                   "model.checkpoint.samples",
                   "is not set; use anew to train on all of training.samples, "
                   "or go_on for those that the checkpoint has not taken in");
  if (from.samples == Samples::kGoOn) {
    ReviewConsumed(spec, problems);
  } else {
    problems.Require(from.consumed.empty(), "model.checkpoint.consumed",
                     "is only for samples: go_on");
  }
}

void ReviewCheckpoints(const JobSpec& spec, Problems& problems) {
  if (!spec.checkpoint.has_value()) return;
  const JobSpec::Checkpoints& c = *spec.checkpoint;
  ReviewPlace(c.directory, "checkpoint.directory",
              "has to be the whole path of a folder that every worker reads "
              "and writes, or s3://BUCKET/PREFIX",
              problems);
  problems.Between("checkpoint.every", c.every, 1u, kCheckpointEveryMax,
                   "it counts sequences");
  problems.Between("checkpoint.keep", c.keep, 1u, kCheckpointsKeptMax);
}

// A replica is an island, so a job that names its islands knows how many
// replicas it can have.
void ReviewPlacement(const JobSpec& spec, Problems& problems) {
  const JobSpec::Placement& p = spec.placement;
  problems.Between("placement.workers_min", p.workers_min, 1u, kWorkersMax);
  if (p.islands.size() > kIslandsMax) {
    problems.Between("placement.islands", p.islands.size(), size_t{0},
                     kIslandsMax, "it counts names");
    return;
  }
  for (const std::string& island : p.islands) {
    problems.Require(!island.empty() && island.size() <= kIslandNameBytesMax,
                     "placement.islands",
                     "holds an empty name, or one above 256 characters");
  }
  if (p.islands.empty() || spec.exchange.min_replicas <= p.islands.size()) {
    return;
  }
  problems.Add("exchange.min_replicas",
               absl::StrCat("is ", spec.exchange.min_replicas,
                            ", and placement.islands names ", p.islands.size(),
                            ": an island is one replica; lower it, or name "
                            "more islands"));
}

void ReviewQueue(const JobSpec::Queue& queue, Problems& problems) {
  problems.Between("queue.priority", queue.priority, -kPriorityMax,
                   kPriorityMax, "higher goes first");
  if (BeginsAsOption(queue.owner, "queue.owner", problems)) return;
  problems.Require(IsLabel(queue.owner, "."), "queue.owner",
                   absl::StrCat("has to be 1 to ", kLabelBytesMax,
                                " lower-case letters, digits, dashes and "
                                "points, not ",
                                Quoted(queue.owner)));
}

}  // namespace

void ReviewJobSpec(ReviewedSpec& reviewed, SpecProblems& problems) {
  JobSpec& spec = reviewed.spec;
  if (FragmentCount(spec) > 1 && spec.training.evaluate_every.has_value()) {
    reviewed.warnings.push_back(
        "training.evaluate_every: no worker has the anchors of all fragments "
        "while it trains, so only the last state is evaluated");
  }
  ReviewName(spec.name, problems);
  ReviewModelAndFill(spec, problems);
  ReviewCheckpoint(spec, problems);
  if (spec.model.program.has_value()) {
    ReviewProgramData(spec.data, problems);
    std::string warning = ShortStepWarning(spec.training);
    if (!warning.empty()) reviewed.warnings.push_back(std::move(warning));
  } else {
    ReviewData(spec.data, problems);
  }
  ReviewFilledWork(spec, reviewed.warnings, problems);
  ReviewPlacement(spec, problems);
  ReviewCheckpoints(spec, problems);
  ReviewQueue(spec.queue, problems);
}

absl::StatusOr<ReviewedSpec> ReviewJobSpec(const JobSpec& submitted) {
  ReviewedSpec reviewed{submitted, {}};
  SpecProblems problems;
  ReviewJobSpec(reviewed, problems);
  SKERRY_RETURN_IF_ERROR(problems.ToStatus());
  return reviewed;
}

absl::StatusOr<JobSpec> ReviewWork(JobSpec spec) {
  FillDefaults(0, spec);
  std::vector<std::string> warnings;
  SpecProblems problems;
  ReviewFilledWork(spec, warnings, problems);
  SKERRY_RETURN_IF_ERROR(problems.ToStatus());
  return spec;
}

}  // namespace skerry::job
