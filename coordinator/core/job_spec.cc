#include "coordinator/core/job_spec.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "coordinator/core/codec_review.h"
#include "coordinator/core/spec_problems.h"
#include "nlohmann/json.hpp"
#include "optimizer/outer/outer_options.h"

namespace skerry::coordinator {
namespace {

constexpr size_t kNameMax = 63;
constexpr size_t kConfigBytesMax = 256 * 1024;
constexpr size_t kPathMax = 4096;
constexpr uint64_t kSamplesMax = uint64_t{1} << 48;
constexpr uint32_t kBatchMax = 1 << 20;
constexpr uint32_t kTauMax = 1 << 20;
constexpr uint32_t kSpansMax = 4096;
constexpr uint32_t kFragmentsMax = 64;
constexpr uint32_t kTokensMax = 1 << 24;
constexpr size_t kIslandsMax = 1024;
constexpr int32_t kPriorityMax = 1000;
constexpr uint32_t kEveryMax = 1 << 20;
constexpr uint32_t kKeepMax = 1024;

using Problems = SpecProblems;

// NaN is in no range.
bool Within(double value, double low, double high) {
  return value >= low && value <= high;
}

template <typename T>
void Fill(T& value, T standard) {
  if (value == T{}) value = standard;
}

template <typename T>
void Fill(std::optional<T>& value, T standard) {
  if (!value.has_value()) value = standard;
}

bool IsLabel(std::string_view text, std::string_view extra) {
  if (text.empty() || text.size() > kNameMax) return false;
  for (const char c : text) {
    const bool fine = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                      c == '-' || extra.find(c) != std::string_view::npos;
    if (!fine) return false;
  }
  return true;
}

bool IsSha256(std::string_view text) {
  return text.size() == 64 &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// The model's context length, or 0 when the text does not say.
uint64_t ContextLength(const nlohmann::json& config) {
  for (const char* key : {"n_positions", "max_position_embeddings", "n_ctx"}) {
    const auto it = config.find(key);
    if (it != config.end() && it->is_number_unsigned()) {
      return it->get<uint64_t>();
    }
  }
  return 0;
}

void ReviewModelAndData(JobSpec& spec, Problems& problems) {
  problems.Require(IsLabel(spec.name, ""), "name",
                   "has to be 1 to 63 lower-case letters, digits and dashes");
  uint64_t context = 0;
  if (spec.model.config_json.empty() ||
      spec.model.config_json.size() > kConfigBytesMax) {
    problems.Add("model.config_json",
                 "has to be the text of a config.json of at most 256 KiB");
  } else {
    const nlohmann::json config =
        nlohmann::json::parse(spec.model.config_json, nullptr, false);
    if (config.is_discarded() || !config.is_object()) {
      problems.Add("model.config_json",
                   "is not a JSON object; give the text of a Hugging Face "
                   "config.json");
    } else {
      context = ContextLength(config);
    }
  }
  problems.Require(
      !spec.data.path.empty() && spec.data.path.size() <= kPathMax &&
          spec.data.path.find('\0') == std::string::npos,
      "data.path", "has to name the folder that `skerryctl data prepare` made");
  problems.Require(
      IsSha256(spec.data.manifest_sha256), "data.manifest_sha256",
      "has to be 64 lower-case hex digits; skerryctl fills it in at submit");
  if (spec.data.sequence_tokens == 0 && context <= kTokensMax) {
    spec.data.sequence_tokens = static_cast<uint32_t>(context);
  }
  problems.Require(
      spec.data.sequence_tokens >= 1 && spec.data.sequence_tokens <= kTokensMax,
      "data.sequence_tokens",
      "is not set and model.config_json names no context length (n_positions "
      "or max_position_embeddings); set it to 1..16777216");
  if (context > 0 && spec.data.sequence_tokens > context) {
    problems.Add("data.sequence_tokens",
                 absl::StrCat("is above the model's context of ", context,
                              "; lower it"));
  }
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
  problems.Require(
      from.path.starts_with('/') && from.path.size() <= kPathMax &&
          from.path.find('\0') == std::string::npos,
      "model.checkpoint.path",
      "has to be the whole path of a folder that every worker reads");
  problems.Require(from.name != "newest", "model.checkpoint.name",
                   "has to be checkpoint-SEQUENCE; skerryctl looks up newest");
  problems.Require(IsSha256(from.sha256), "model.checkpoint.sha256",
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

void ReviewCheckpoints(JobSpec& spec, Problems& problems) {
  if (!spec.checkpoint.has_value()) return;
  JobSpec::Checkpoints& c = *spec.checkpoint;
  Fill(c.every, 20u);
  Fill(c.keep, 3u);
  problems.Require(c.directory.starts_with('/') &&
                       c.directory.size() <= kPathMax &&
                       c.directory.find('\0') == std::string::npos,
                   "checkpoint.directory",
                   "has to be the whole path of a folder that every worker "
                   "reads and writes");
  problems.Require(c.every <= kEveryMax, "checkpoint.every",
                   "has to be at most 1048576 sequences");
  problems.Require(c.keep <= kKeepMax, "checkpoint.keep",
                   "has to be at most 1024 checkpoints");
}

double StandardDecay(InnerOptimizer optimizer) {
  switch (optimizer) {
    case InnerOptimizer::kLamb:
      return 0.01;
    case InnerOptimizer::kSgd:
      return 0;
    default:
      return 0.1;
  }
}

// AdamW's, which LAMB and Muon have, too.
void FillBetas(JobSpec::Training& t) {
  if (t.optimizer == InnerOptimizer::kSgd) return;
  Fill(t.beta1, 0.9);
  Fill(t.beta2, 0.95);
  Fill(t.epsilon, 1e-8);
}

// Of the optimizers that have one of their own.
void FillMomentum(JobSpec::Training& t) {
  if (t.optimizer == InnerOptimizer::kSgd) {
    Fill(t.momentum, 0.9);
    Fill(t.nesterov, false);
  }
  if (t.optimizer == InnerOptimizer::kMuon) {
    Fill(t.momentum, 0.95);
    Fill(t.nesterov, true);
  }
}

void FillTraining(JobSpec::Training& t) {
  Fill(t.optimizer, InnerOptimizer::kAdamW);
  FillBetas(t);
  FillMomentum(t);
  Fill(t.schedule, Schedule::kCosine);
  if (t.schedule == Schedule::kWsd) Fill(t.decay_fraction, 0.2);
  Fill(t.compute, Compute::kFp32);
  Fill(t.micro_batch_samples, t.batch_samples);
  Fill(t.tau, 12u);
  Fill(t.learning_rate, 1e-3);
  Fill(t.weight_decay, StandardDecay(t.optimizer));
  Fill(t.warmup_fraction, 0.05);
  Fill(t.min_learning_rate_ratio, 0.1);
  Fill(t.clip_norm, 1.0);
  Fill(t.evaluate_every, 10u);
  Fill(t.evaluate_samples, 64u);
}

void ReviewBetas(const JobSpec::Training& t, Problems& problems) {
  if (t.optimizer == InnerOptimizer::kSgd) {
    constexpr char kNotSgds[] =
        "is not sgd's, which has momentum; leave it out";
    problems.Require(t.beta1 == 0, "training.beta1", kNotSgds);
    problems.Require(t.beta2 == 0, "training.beta2", kNotSgds);
    problems.Require(t.epsilon == 0, "training.epsilon",
                     "is not sgd's; leave it out");
    return;
  }
  problems.Require(t.beta1 > 0 && t.beta1 < 1, "training.beta1",
                   "has to be in (0, 1)");
  problems.Require(t.beta2 > 0 && t.beta2 < 1, "training.beta2",
                   "has to be in (0, 1)");
  problems.Require(t.epsilon > 0 && t.epsilon <= 1, "training.epsilon",
                   "has to be in (0, 1]");
}

// What is of no effect is a mistake: the operator meant something else.
void ReviewOptimizer(const JobSpec::Training& t, Problems& problems) {
  const bool has_momentum = t.optimizer == InnerOptimizer::kSgd ||
                            t.optimizer == InnerOptimizer::kMuon;
  if (has_momentum) {
    problems.Require(Within(*t.momentum, 0, 1) && *t.momentum < 1,
                     "training.momentum", "has to be in [0, 1)");
    problems.Require(
        t.optimizer != InnerOptimizer::kSgd || !*t.nesterov || *t.momentum > 0,
        "training.nesterov", "has no meaning without momentum; leave it out");
  } else {
    problems.Require(!t.momentum.has_value(), "training.momentum",
                     "is only sgd's and muon's; AdamW and LAMB have beta1");
    problems.Require(!t.nesterov.has_value(), "training.nesterov",
                     "is only sgd's and muon's");
  }
  if (t.schedule == Schedule::kWsd) {
    problems.Require(Within(*t.decay_fraction, 0, 1), "training.decay_fraction",
                     "has to be in [0, 1]");
  } else {
    problems.Require(!t.decay_fraction.has_value(), "training.decay_fraction",
                     "is only the schedule wsd's");
  }
  problems.Require(
      t.schedule != Schedule::kInverseSqrt || *t.warmup_fraction > 0,
      "training.warmup_fraction",
      "has to be above 0 for the schedule inverse_sqrt, which is counted in "
      "it");
}

void ReviewTraining(JobSpec& spec, Problems& problems) {
  JobSpec::Training& t = spec.training;
  FillTraining(t);
  ReviewBetas(t, problems);
  ReviewOptimizer(t, problems);
  problems.Require(t.samples >= 1 && t.samples <= kSamplesMax,
                   "training.samples",
                   "has to be 1 .. 2^48; it is the length of the run");
  problems.Require(t.batch_samples >= 1 && t.batch_samples <= kBatchMax,
                   "training.batch_samples",
                   "has to be 1 .. 1048576 samples a worker and inner step");
  problems.Require(
      t.micro_batch_samples <= t.batch_samples, "training.micro_batch_samples",
      "is above training.batch_samples; lower it, or leave it out");
  problems.Require(t.tau <= kTauMax, "training.tau",
                   "has to be at most 1048576 inner steps a round");
  problems.Require(t.learning_rate > 0 && t.learning_rate <= 10,
                   "training.learning_rate", "has to be in (0, 10]");
  problems.Require(Within(*t.weight_decay, 0, 10), "training.weight_decay",
                   "has to be in [0, 10]");
  problems.Require(Within(*t.warmup_fraction, 0, 1), "training.warmup_fraction",
                   "has to be in [0, 1]");
  problems.Require(Within(*t.min_learning_rate_ratio, 0, 1),
                   "training.min_learning_rate_ratio", "has to be in [0, 1]");
  problems.Require(Within(*t.clip_norm, 0, std::numeric_limits<float>::max()),
                   "training.clip_norm",
                   "has to be 0 (off) or a positive number");
  problems.Require(*t.evaluate_every >= 1, "training.evaluate_every",
                   "has to be at least 1 sequence");
}

void ReviewRest(JobSpec& spec, Problems& problems) {
  JobSpec::Exchange& e = spec.exchange;
  Fill(e.codec, std::string("int8_block"));
  Fill(e.quorum, 1.0);
  Fill(e.min_replicas, 1u);
  Fill(e.carry, 2u);
  Fill(e.spans, 64u);
  ReviewCodec(e.codec, e.error_max, problems);
  problems.Require(e.quorum > 0 && e.quorum <= 1, "exchange.quorum",
                   "has to be in (0, 1]: a share of the replicas");
  problems.Require(e.min_replicas <= 1024, "exchange.min_replicas",
                   "has to be at most 1024");
  problems.Require(*e.carry <= 64, "exchange.carry",
                   "has to be at most 64 sequences");
  problems.Require(e.spans <= kSpansMax, "exchange.spans",
                   "has to be at most 4096");
  if (e.fragments > kFragmentsMax) {
    problems.Add("exchange.fragments", "has to be at most 64");
  } else if (spec.training.tau % FragmentCount(spec) != 0) {
    problems.Add("exchange.fragments",
                 absl::StrCat("does not divide training.tau, which is ",
                              spec.training.tau, ": each of ", e.fragments,
                              " fragments has its turn once in so many inner "
                              "steps; change one of the two"));
  }
  JobSpec::Placement& p = spec.placement;
  Fill(p.workers_min, 1u);
  problems.Require(p.islands.size() <= kIslandsMax, "placement.islands",
                   "names more than 1024 islands");
  for (const std::string& island : p.islands) {
    problems.Require(!island.empty() && island.size() <= 256,
                     "placement.islands",
                     "holds an empty name, or one above 256 characters");
  }
  problems.Require(p.workers_min <= 1'000'000, "placement.workers_min",
                   "has to be at most 1000000");
}

void ReviewQueue(JobSpec::Queue& queue, Problems& problems) {
  Fill(queue.owner, std::string("default"));
  problems.Require(
      queue.priority >= -kPriorityMax && queue.priority <= kPriorityMax,
      "queue.priority", "has to be -1000 to 1000; higher goes first");
  problems.Require(IsLabel(queue.owner, "."), "queue.owner",
                   "has to be 1 to 63 lower-case letters, digits, dashes and "
                   "points");
}

const char* MethodName(OuterMethod method) {
  switch (method) {
    case OuterMethod::kUnspecified:
      return "";
    case OuterMethod::kLocalSgd:
      return "local_sgd";
    case OuterMethod::kDiloco:
      return "diloco";
    case OuterMethod::kCo2:
      return "co2";
    case OuterMethod::kAveragePlusLocalDelta:
      return "average_plus_local_delta";
  }
  return "";
}

void FillOuterLoop(JobSpec::OuterLoop& outer,
                   const optimizer::OuterOptions& preset, double default_beta) {
  Fill(outer.learning_rate, preset.learning_rate);
  Fill(outer.momentum, preset.momentum);
  Fill(outer.nesterov, preset.nesterov);
  Fill(outer.staleness_penalty, preset.penalty);
  if (!outer.clip.has_value()) outer.clip = preset.clip;
  Fill(outer.beta, default_beta);
  Fill(outer.undelayed_fraction, preset.undelayed_rounds_fraction);
}

optimizer::OuterOptions FilledOptions(const JobSpec::OuterLoop& outer,
                                      optimizer::OuterOptions preset) {
  preset.learning_rate = *outer.learning_rate;
  preset.momentum = *outer.momentum;
  preset.nesterov = *outer.nesterov;
  preset.penalty = *outer.staleness_penalty;
  if (preset.penalty != 1.0) {
    preset.penalty_rule = optimizer::StalenessPenalty::kConstant;
  }
  preset.clip.reset();
  if (outer.clip.value_or(0) != 0) preset.clip = outer.clip;
  preset.undelayed_rounds_fraction = *outer.undelayed_fraction;
  return preset;
}

void ReviewOuterLoop(JobSpec& spec, std::vector<std::string>& warnings,
                     Problems& problems) {
  const auto preset = optimizer::OuterPreset(MethodName(spec.outer.method));
  if (!preset.ok()) {
    problems.Add("outer.method",
                 "is not set; use local_sgd, diloco, co2 or "
                 "average_plus_local_delta");
    return;
  }
  FillOuterLoop(spec.outer, *preset, StandardBeta(spec.exchange.codec));
  problems.Require(Within(*spec.outer.beta, 0, 1), "outer.beta",
                   "has to be in [0, 1]");
  ReviewDivergence(spec.exchange.codec, *spec.outer.beta, *spec.outer.momentum,
                   problems);
  const auto review =
      optimizer::ValidateOuter(FilledOptions(spec.outer, *preset));
  if (!review.ok()) {
    const absl::string_view why = review.status().message();
    problems.Add("outer", std::string_view(why.data(), why.size()));
    return;
  }
  if (spec.outer.accept_weak_damping) return;
  for (const std::string& warning : review->warnings) {
    warnings.push_back(absl::StrCat("outer: ", warning));
  }
}

}  // namespace

data::RangeSet ConsumedBefore(const JobSpec& spec) {
  return spec.model.checkpoint.has_value()
             ? data::RangeSet(spec.model.checkpoint->consumed)
             : data::RangeSet();
}

uint32_t FragmentCount(const JobSpec& spec) {
  return std::max(1u, spec.exchange.fragments);
}

uint32_t OuterDelay(const JobSpec& spec) {
  const auto preset = optimizer::OuterPreset(MethodName(spec.outer.method));
  return preset.ok() ? static_cast<uint32_t>(preset->delay_rounds) : 0;
}

uint64_t StalenessMax(const JobSpec& spec) {
  return uint64_t{OuterDelay(spec)} + *spec.exchange.carry;
}

optimizer::OuterOptions OuterOptionsOf(const JobSpec& spec) {
  const auto preset = optimizer::OuterPreset(MethodName(spec.outer.method));
  return FilledOptions(spec.outer,
                       preset.ok() ? *preset : optimizer::OuterOptions{});
}

absl::StatusOr<ReviewedSpec> ReviewJobSpec(const JobSpec& submitted) {
  ReviewedSpec reviewed{submitted, {}};
  Problems problems;
  if (FragmentCount(submitted) > 1 &&
      submitted.training.evaluate_every.has_value()) {
    reviewed.warnings.push_back(
        "training.evaluate_every: no worker has the anchors of all fragments "
        "while it trains, so only the last state is evaluated");
  }
  ReviewModelAndData(reviewed.spec, problems);
  ReviewTraining(reviewed.spec, problems);
  ReviewCheckpoint(reviewed.spec, problems);
  ReviewCheckpoints(reviewed.spec, problems);
  ReviewRest(reviewed.spec, problems);
  ReviewQueue(reviewed.spec.queue, problems);
  ReviewOuterLoop(reviewed.spec, reviewed.warnings, problems);
  if (!problems.empty()) return absl::InvalidArgumentError(problems.Text());
  return reviewed;
}

}  // namespace skerry::coordinator
