#include "cli/job_file.h"

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/s3_location.h"
#include "base/sha256.h"
#include "base/status.h"
#include "cli/home_path.h"
#include "cli/job_checkpoint.h"
#include "cli/places.h"
#include "cli/read_file.h"
#include "cli/yaml_fields.h"
#include "google/protobuf/util/json_util.h"
#include "job/convert/job_spec.h"
#include "job/data_facts.h"
#include "job/data_review.h"
#include "job/review.h"
#include "runtime/posix/posix_files.h"

namespace skerry::cli {
namespace {

constexpr size_t kJobBytesMax = 1 << 20;
constexpr size_t kManifestBytesMax = 64 << 20;
// Keeps the review from asking for a hash when the folder is the problem.
const char* const kAnyHash =
    "0000000000000000000000000000000000000000000000000000000000000000";

// A path that means the same on every worker.
absl::StatusOr<std::string> WholePath(const std::string& job_file,
                                      std::string path) {
  if (path.empty() || IsS3Place(path)) return path;
  SKERRY_ASSIGN_OR_RETURN(path, HomePath(path));
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(
      std::filesystem::path(job_file).parent_path() / path, error);
  if (error) return absl::InvalidArgumentError(error.message());
  return whole.lexically_normal().string();
}

// The manifest of a data set, which lies in a folder of this machine or in an
// object store.
absl::StatusOr<std::string> ManifestAt(const std::string& place) {
  if (!IsS3Place(place)) {
    return ReadFile(place + "/manifest.json", kManifestBytesMax);
  }
  runtime::PosixFiles files;
  const auto places = PlacesOver(files);
  SKERRY_ASSIGN_OR_RETURN(const auto store, places->Open(place));
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                          store->Get("manifest.json"));
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// What to do about a manifest that cannot be read. Empty where `why` says it.
const char* AdviceOn(bool in_store, const absl::Status& why) {
  if (in_store) {
    return "; bring it there with skerryctl data push, or set "
           "data.manifest_sha256 when only the workers can read it";
  }
  if (absl::IsPermissionDenied(why)) return "";
  return "; make it with skerryctl data prepare, or set data.manifest_sha256 "
         "when the folder is only on the workers";
}

// Completes and checks what has been read of a job file.
class Completion {
 public:
  explicit Completion(const std::string& path) : path_(path) {}

  // "FIELD: WHAT" for each problem found so far.
  const std::vector<std::string>& lines() const { return problems_.lines(); }

  void Complete(v1::JobSpec* spec) {
    const bool has_program = spec->model().has_program();
    if (!has_program) {
      FixPath("data.path", spec->mutable_data()->mutable_path());
    }
    if (spec->has_checkpoint()) {
      FixPath("checkpoint.directory",
              spec->mutable_checkpoint()->mutable_directory());
    }
    if (!has_program) ReadManifest(spec->mutable_data());
    FixCheckpoint(spec);
  }

  void Review(const v1::JobSpec& spec) {
    const absl::StatusOr<job::JobSpec> read = job::JobSpecFromProto(spec);
    if (!read.ok()) {
      problems_.AddLine(std::string(read.status().message()));
      return;
    }
    job::ReviewedSpec reviewed{*read, {}};
    job::SpecProblems problems;
    job::ReviewJobSpec(reviewed, problems);
    if (problems.empty() && has_manifest_) {
      std::vector<std::string> warnings;  // the workers say the same
      job::ReviewData(reviewed.spec, facts_, warnings, problems);
    }
    for (const std::string& line : problems.lines()) {
      // Said already, with more.
      const std::string_view field =
          std::string_view(line).substr(0, line.find(':'));
      if (Names(field) || (lacks_model_ && field.starts_with("model."))) {
        continue;
      }
      problems_.AddLine(line);
    }
  }

 private:
  bool Names(std::string_view field) const {
    for (const std::string& line : problems_.lines()) {
      if (std::string_view(line).substr(0, line.find(':')) == field) {
        return true;
      }
    }
    return false;
  }

  void FixPath(std::string_view field, std::string* path) {
    absl::StatusOr<std::string> whole = WholePath(path_, *path);
    if (whole.ok()) {
      *path = *std::move(whole);
    } else {
      problems_.Add(field, std::string(whole.status().message()));
    }
  }

  void FixCheckpoint(v1::JobSpec* spec) {
    if (!spec->model().has_checkpoint()) return;
    v1::JobSpec::Checkpoint* from = spec->mutable_model()->mutable_checkpoint();
    FixPath("model.checkpoint.path", from->mutable_path());
    runtime::PosixFiles files;
    const absl::Status completed =
        CompleteCheckpoint(*PlacesOver(files), files, spec);
    if (completed.ok()) return;
    problems_.AddLine(std::string(completed.message()));
    lacks_model_ = true;
  }

  // With a hash the set may be another than the one that lies here, which then
  // says nothing.
  void ReadManifest(v1::JobSpec::Data* data) {
    if (data->path().empty()) return;
    if (Names("data.path")) {
      data->set_manifest_sha256(kAnyHash);
      return;
    }
    const bool in_store = IsS3Place(data->path());
    // Only the workers may be able to ask the store.
    if (in_store && !data->manifest_sha256().empty()) return;
    const absl::StatusOr<std::string> manifest = ManifestAt(data->path());
    if (!manifest.ok()) {
      if (!data->manifest_sha256().empty()) return;
      problems_.Add("data.path",
                    absl::StrCat(manifest.status().message(),
                                 AdviceOn(in_store, manifest.status())));
      data->set_manifest_sha256(kAnyHash);
      return;
    }
    const std::string found = Sha256Hex(std::as_bytes(std::span(*manifest)));
    if (data->manifest_sha256().empty()) data->set_manifest_sha256(found);
    has_manifest_ = data->manifest_sha256() == found;
    if (has_manifest_) facts_ = job::DataFactsOf(data->path(), *manifest);
  }

  const std::string path_;
  job::SpecProblems problems_;
  job::DataFacts facts_;
  bool has_manifest_ = false;
  // The checkpoint, which may bring the model, has a problem of its own.
  bool lacks_model_ = false;
};

std::vector<ExtraField> ExtraFields() {
  return {{.kind = ExtraField::Kind::kFile,
           .parent = "model",
           .key = "config_file",
           .target = "config_json"},
          {.kind = ExtraField::Kind::kMapping,
           .parent = "model.program",
           .key = "parameters",
           .target = "parameters_json"}};
}

// Whether what is wrong with the form of the file explains why the field has no
// good value.
bool IsExplained(const PlacedProblem& problem, const FieldPlaces& places,
                 const std::vector<PlacedProblem>& of_the_form) {
  if (of_the_form.empty()) return false;
  if (!places.Has(problem.path)) return true;
  for (const PlacedProblem& other : of_the_form) {
    if (other.path == problem.path || other.place == problem.place) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<JobFile> ReadJobFile(const std::string& path) {
  SKERRY_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kJobBytesMax));
  SKERRY_ASSIGN_OR_RETURN(
      YamlReading reading,
      ReadYaml(path, text, *v1::JobSpec::descriptor(), ExtraFields()));
  JobFile file;
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = false;
  const auto parsed = google::protobuf::util::JsonStringToMessage(
      reading.json, &file.spec, options);
  if (!parsed.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": ", std::string(parsed.message())));
  }
  Completion completion(path);
  completion.Complete(&file.spec);
  completion.Review(file.spec);
  std::vector<PlacedProblem> problems = reading.problems;
  for (const std::string& line : completion.lines()) {
    PlacedProblem problem = reading.places.Locate(line);
    if (IsExplained(problem, reading.places, reading.problems)) continue;
    problems.push_back(std::move(problem));
  }
  if (!problems.empty()) {
    return absl::InvalidArgumentError(InFileOrder(std::move(problems)));
  }
  file.places = std::move(reading.places);
  return file;
}

}  // namespace skerry::cli
