#include "worker/daemon/data_source.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace skerry::worker {
namespace {

// Says what to do about a file that the store does not have or does not give.
absl::Status WithAdvice(const absl::Status& status) {
  const char* advice = nullptr;
  if (absl::IsNotFound(status)) advice = "; copy the data set there";
  if (absl::IsPermissionDenied(status)) {
    advice = "; check this worker's keys and what they may read";
  }
  if (advice == nullptr) return status;
  return absl::Status(status.code(), absl::StrCat(status.message(), advice));
}

}  // namespace

StoreSource::StoreSource(std::string place, runtime::BlobStores& places)
    : place_(std::move(place)), places_(places) {}

absl::Status StoreSource::Read(
    const std::string&, const DataFile& file,
    absl::FunctionRef<absl::Status(runtime::ByteSpan piece)> take) {
  SKERRY_ASSIGN_OR_RETURN(const auto store, places_.Open(place_));
  absl::Status taken;
  const absl::Status read =
      store->Read(file.name, [&](runtime::ByteSpan piece) {
        taken = take(piece);
        return taken;
      });
  return taken.ok() ? WithAdvice(read) : read;
}

}  // namespace skerry::worker
