#include "worker/daemon/inner_source.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "checkpoint/checkpoint_store.h"
#include "checkpoint/starting_point.h"

namespace skerry::worker {
namespace {

// Whether commits have been made since the job began or went back.
bool IsOnItsWay(const protocol::JobOrders& orders, const JobStart& start) {
  for (const protocol::FragmentOrders& one : orders.fragments) {
    const uint32_t fragment = one.fragment.value();
    if (fragment < start.at().size() && one.newest > start.at()[fragment]) {
      return true;
    }
  }
  return false;
}

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

std::optional<InnerSource> FindInnerSource(const protocol::JobOrders& orders,
                                           const JobStart& start,
                                           bool reads_base) {
  if (IsOver(orders.phase)) return std::nullopt;
  InnerSource from{.job = orders.spec.name,
                   .number = orders.job,
                   .restored = start.restored()};
  if (reads_base) {
    const job::JobSpec spec = start.SpecToRead(orders.spec);
    if (!start.GoesOn() || spec.model.checkpoint->name.empty()) {
      return std::nullopt;
    }
    from.place = spec.model.checkpoint->path;
    from.name = spec.model.checkpoint->name;
    from.sha256 = spec.model.checkpoint->sha256;
    return from;
  }
  if (!orders.spec.checkpoint.has_value() || !IsOnItsWay(orders, start)) {
    return std::nullopt;
  }
  from.place = orders.spec.checkpoint->directory;
  return from;
}

absl::Status FetchInner(const InnerSource& from, const std::string& path,
                        runtime::BlobStores& places, runtime::Files& files) {
  if (from.name.empty()) return FetchNewest(from, path, places, files);
  return checkpoint::CopyInnerState({from.place, from.name}, from.sha256, path,
                                    places, files);
}

}  // namespace skerry::worker
