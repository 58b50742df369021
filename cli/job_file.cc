#include "cli/job_file.h"

#include <cstddef>
#include <filesystem>
#include <span>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/sha256.h"
#include "base/status.h"
#include "cli/read_file.h"
#include "cli/yaml_fields.h"
#include "google/protobuf/util/json_util.h"

namespace skerry::cli {
namespace {

constexpr size_t kJobBytesMax = 1 << 20;
constexpr size_t kManifestBytesMax = 64 << 20;

// The same path has to mean the same on every worker.
absl::Status FixDataPath(const std::string& job_file, v1::JobSpec::Data* data) {
  if (data->path().empty()) return absl::OkStatus();
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(
      std::filesystem::path(job_file).parent_path() / data->path(), error);
  if (error) {
    return absl::InvalidArgumentError(
        absl::StrCat(job_file, ": data.path: ", error.message()));
  }
  data->set_path(whole.lexically_normal().string());
  return absl::OkStatus();
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
  SKERRY_RETURN_IF_ERROR(FixDataPath(path, spec.mutable_data()));
  SKERRY_RETURN_IF_ERROR(FillManifestHash(path, spec.mutable_data()));
  return spec;
}

}  // namespace skerry::cli
