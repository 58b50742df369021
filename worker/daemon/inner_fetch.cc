#include "worker/daemon/inner_fetch.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "checkpoint/checkpoint_store.h"
#include "checkpoint/starting_point.h"

namespace skerry::worker {
namespace {

// Checkpoints between the one that the job went back to and the state that it
// made of it belong to a history that is gone.
bool IsOfHistory(const checkpoint::Listed& one, const InnerSource& from) {
  return one.status.ok() && one.manifest.job == from.job &&
         one.manifest.job_id == from.number.value() &&
         (one.sequence > from.restored.sequence.value() ||
          (from.restored.checkpoint.is_set() &&
           one.sequence == from.restored.checkpoint.value()));
}

absl::Status FetchNewest(const InnerSource& from, const std::string& path,
                         runtime::BlobStores& places, runtime::Files& files) {
  SKERRY_ASSIGN_OR_RETURN(const auto blobs, places.Open(from.place));
  const checkpoint::CheckpointStore store(*blobs);
  SKERRY_ASSIGN_OR_RETURN(const std::vector<checkpoint::Listed> all,
                          store.List());
  for (auto one = all.rbegin(); one != all.rend(); ++one) {
    if (!IsOfHistory(*one, from) ||
        checkpoint::FindInnerState(one->manifest) == nullptr) {
      continue;
    }
    const checkpoint::StartingPoint where{from.place, one->name};
    SKERRY_ASSIGN_OR_RETURN(const checkpoint::Described found,
                            checkpoint::Describe(where, places, files));
    return checkpoint::CopyInnerState(where, found.sha256, path, places, files);
  }
  return absl::NotFoundError(
      "this worker has saved none, and no checkpoint of the job has one");
}

}  // namespace

absl::Status FetchInner(const InnerSource& from, const std::string& path,
                        runtime::BlobStores& places, runtime::Files& files) {
  if (from.name.empty()) return FetchNewest(from, path, places, files);
  return checkpoint::CopyInnerState({from.place, from.name}, from.sha256, path,
                                    places, files);
}

}  // namespace skerry::worker
