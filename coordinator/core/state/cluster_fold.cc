#include "coordinator/core/state/cluster_fold.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"
#include "coordinator/core/log/state_hash.h"

namespace skerry::coordinator {
namespace {

constexpr uint64_t kNumbersAbove = 1 << 20;

}  // namespace

absl::Status ClusterFold::Apply(const Entry& entry) {
  const bool jumps = std::holds_alternative<NumbersRaised>(entry.record);
  if (jumps ? entry.index <= revision_ : entry.index != Next(revision_)) {
    return absl::DataLossError(absl::StrCat("record ", entry.index.value(),
                                            " follows ", revision_.value()));
  }
  absl::Status status = Fold(entry);
  if (!status.ok()) {
    return Annotate(status, absl::StrCat("record ", entry.index.value()));
  }
  revision_ = entry.index;
  return absl::OkStatus();
}

absl::Status ClusterFold::Restore(const ClusterSnapshot& saved) {
  SKERRY_CHECK(!revision_.is_set());
  absl::Status restored = workers.Restore(saved.workers);
  if (restored.ok()) restored = jobs.Restore(saved.jobs, saved.gone_jobs);
  if (restored.ok()) restored = joins.Restore(saved.joins);
  revision_ = saved.revision;
  if (restored.ok() && StateHash() != saved.state_hash) {
    restored = absl::DataLossError("its state is not the one that was saved");
  }
  return restored;
}

ClusterSnapshot ClusterFold::Save() const {
  SKERRY_CHECK(records_.empty());
  return {revision_,   StateHash(),     workers.Save(),
          jobs.Save(), jobs.SaveGone(), joins.Save()};
}

uint64_t ClusterFold::StateHash() const {
  StateHasher hasher;
  hasher.Add(revision_);
  workers.HashInto(hasher);
  jobs.HashInto(hasher);
  joins.HashInto(hasher);
  return hasher.value();
}

absl::Status ClusterFold::Fold(const Entry& entry) {
  if (const auto* admitted = std::get_if<WorkerAdmitted>(&entry.record)) {
    return workers.Apply(Incarnation(entry.index.value()), *admitted);
  }
  if (const auto* left = std::get_if<WorkerLeft>(&entry.record)) {
    return workers.Apply(*left);
  }
  if (const auto* marked = std::get_if<WorkerMarked>(&entry.record)) {
    return workers.Apply(*marked);
  }
  if (const auto* changed = std::get_if<JoinChanged>(&entry.record)) {
    return joins.Apply(*changed);
  }
  if (std::holds_alternative<NumbersRaised>(entry.record)) {
    return absl::OkStatus();
  }
  return jobs.Apply(entry);
}

void ClusterFold::EmitAt(Revision index, Record record) {
  Entry entry{index, std::move(record)};
  // Before the fold, which may end what the record names.
  CollectTouched(jobs, entry, touched);
  SKERRY_CHECK(Apply(entry).ok());
  CollectTouched(jobs, entry, touched);
  records_.push_back(std::move(entry));
}

bool ClusterFold::KnowsLostRecords(const StatusFacts& status) const {
  const Worker* worker = workers.FindCurrent(status.self.worker);
  return worker != nullptr && worker->counter == 0 &&
         SeenBy(status) > recovered_to_;
}

void ClusterFold::RaiseNumbers(const StatusFacts& status) {
  const Revision seen = SeenBy(status);
  const bool lost = !raised_ && KnowsLostRecords(status);
  if (seen <= revision_ && !lost) return;
  raised_ = true;
  EmitAt(Revision(std::max(seen, revision_).value() + kNumbersAbove),
         NumbersRaised{status.self.worker, seen});
}

}  // namespace skerry::coordinator
