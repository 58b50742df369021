#include "cli/places.h"

#include "base/s3_location.h"
#include "base/status.h"
#include "runtime/posix/curl_http.h"
#include "runtime/posix/curl_ports.h"
#include "runtime/s3/places.h"

namespace skerry::cli {
namespace {

class PlacesByHttp final : public runtime::BlobStores {
 public:
  explicit PlacesByHttp(runtime::Files& files)
      : places_(files, runtime::PortsOver(http_)) {}

  absl::StatusOr<std::unique_ptr<runtime::BlobStore>> Open(
      const std::string& place) override {
    return places_.Open(place);
  }

 private:
  runtime::CurlHttp http_;
  runtime::s3::Places places_;
};

}  // namespace

std::unique_ptr<runtime::BlobStores> PlacesOver(runtime::Files& files) {
  return std::make_unique<PlacesByHttp>(files);
}

absl::Status RequirePlace(const std::string& place,
                          const runtime::Files& files) {
  if (IsS3Place(place)) return absl::OkStatus();
  return Annotate(files.ListDirectories(place).status(),
                  "the folder of a job's checkpoints");
}

}  // namespace skerry::cli
