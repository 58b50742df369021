#include "runtime/s3/places.h"

#include <optional>
#include <utility>
#include <vector>

#include "base/s3_location.h"
#include "base/status.h"
#include "runtime/directory_blob_store.h"
#include "runtime/s3/client.h"
#include "runtime/s3/credentials.h"
#include "runtime/s3/s3_blob_store.h"

namespace skerry::runtime::s3 {

Places::Places(Files& files, HttpPorts ports)
    : files_(files), ports_(std::move(ports)) {}

absl::StatusOr<std::unique_ptr<BlobStore>> Places::Open(
    const std::string& place) {
  if (!IsS3Place(place)) {
    return std::make_unique<DirectoryBlobStore>(place, files_);
  }
  SKERRY_ASSIGN_OR_RETURN(const S3Location where, ParseS3Location(place));
  const auto file = [this](const std::string& path) {
    const absl::StatusOr<std::vector<std::byte>> bytes = files_.Read(path);
    if (!bytes.ok()) return std::optional<std::string>();
    return std::optional<std::string>(std::string(
        reinterpret_cast<const char*>(bytes->data()), bytes->size()));
  };
  // Read each time, so that keys can be replaced while a daemon runs.
  SKERRY_ASSIGN_OR_RETURN(Settings settings,
                          FindSettings(where.profile, ports_.variable, file));
  return std::make_unique<S3BlobStore>(
      Client(std::move(settings), where.bucket, ports_), where.prefix);
}

}  // namespace skerry::runtime::s3
