#include "tests/sim/check/folders.h"

#include <span>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/hash.h"

namespace skerry::sim {

void FolderChecker::OnDurable(const coordinator::Entry& entry) {
  if (const auto* submitted =
          std::get_if<coordinator::JobSubmitted>(&entry.record)) {
    const JobId job(entry.index.value());
    uids_[job] = CombineHash(
        Hash64(std::as_bytes(std::span(submitted->idempotency_key))),
        job.value());
  } else if (const auto* deleted =
                 std::get_if<coordinator::JobDeleted>(&entry.record)) {
    deleted_.insert(deleted->job);
  }
}

void FolderChecker::OnFolderRemoved(HostId host, JobId job, uint64_t uid) {
  const auto known = uids_.find(job);
  if (known != uids_.end() && known->second == uid && deleted_.contains(job)) {
    return;
  }
  out_.Add(absl::StrCat("worker ", host, " removes the files of job ",
                        job.value(), ", which nobody has deleted"));
}

}  // namespace skerry::sim
