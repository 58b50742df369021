#include "cli/job_file.h"

#include <cstddef>
#include <filesystem>
#include <span>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/sha256.h"
#include "base/status.h"
#include "cli/job_checkpoint.h"
#include "cli/read_file.h"
#include "cli/yaml_fields.h"
#include "google/protobuf/util/json_util.h"
#include "runtime/posix/posix_files.h"

namespace skerry::cli {
namespace {

constexpr size_t kJobBytesMax = 1 << 20;
constexpr size_t kManifestBytesMax = 64 << 20;

// A path relative to the job file, as it means the same on every worker.
absl::StatusOr<std::string> WholePath(const std::string& job_file,
                                      absl::string_view field,
                                      const std::string& path) {
  if (path.empty()) return path;
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(
      std::filesystem::path(job_file).parent_path() / path, error);
  if (error) {
    return absl::InvalidArgumentError(
        absl::StrCat(job_file, ": ", field, ": ", error.message()));
  }
  return whole.lexically_normal().string();
}

absl::Status FixCheckpoint(const std::string& job_file, v1::JobSpec* spec) {
  if (!spec->model().has_checkpoint()) return absl::OkStatus();
  v1::JobSpec::Checkpoint* from = spec->mutable_model()->mutable_checkpoint();
  SKERRY_ASSIGN_OR_RETURN(
      *from->mutable_path(),
      WholePath(job_file, "model.checkpoint.path", from->path()));
  runtime::PosixFiles files;
  return Annotate(CompleteCheckpoint(files, spec), job_file);
}

absl::Status FillManifestHash(const std::string& job_file,
                              v1::JobSpec::Data* data) {
  if (data->path().empty() || !data->manifest_sha256().empty()) {
    return absl::OkStatus();
  }
  const absl::StatusOr<std::string> manifest =
      ReadFile(data->path() + "/manifest.json", kManifestBytesMax);
  if (!manifest.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        job_file, ": data.path: ", manifest.status().message(),
        "; make it with skerryctl data prepare, or set data.manifest_sha256 "
        "when the folder is only on the workers"));
  }
  data->set_manifest_sha256(Sha256Hex(std::as_bytes(std::span(*manifest))));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<v1::JobSpec> ReadJobFile(const std::string& path) {
  SKERRY_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kJobBytesMax));
  v1::JobSpec spec;
  SKERRY_ASSIGN_OR_RETURN(
      const std::string json,
      YamlToJson(
          path, text, *v1::JobSpec::descriptor(),
          {.parent = "model", .key = "config_file", .target = "config_json"}));
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = false;
  const auto parsed =
      google::protobuf::util::JsonStringToMessage(json, &spec, options);
  if (!parsed.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": ", std::string(parsed.message())));
  }
  SKERRY_ASSIGN_OR_RETURN(*spec.mutable_data()->mutable_path(),
                          WholePath(path, "data.path", spec.data().path()));
  if (spec.has_checkpoint()) {
    SKERRY_ASSIGN_OR_RETURN(
        *spec.mutable_checkpoint()->mutable_directory(),
        WholePath(path, "checkpoint.directory", spec.checkpoint().directory()));
  }
  SKERRY_RETURN_IF_ERROR(FillManifestHash(path, spec.mutable_data()));
  SKERRY_RETURN_IF_ERROR(FixCheckpoint(path, &spec));
  return spec;
}

}  // namespace skerry::cli
