#include "worker/shell/job_table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/log.h"

namespace skerry::worker {
namespace {

// Waits before a job that could not be served is tried again. Orders come with
// every Status, so a shorter one would make no difference.
constexpr absl::Duration kServeAgainMin = absl::Seconds(1);
constexpr absl::Duration kServeAgainMax = absl::Minutes(1);
// Jobs that had ended before the process started, and whose states are read
// into memory at a time.
constexpr int kReadAtOnce = 2;

}  // namespace

JobTable::JobTable(runtime::EventLoop& loop, FolderKeeper& folders,
                   MakeJob make, std::function<void()> status_changed)
    : loop_(loop),
      folders_(folders),
      make_(std::move(make)),
      status_changed_(std::move(status_changed)) {}

Job* JobTable::Find(uint64_t job) const {
  const auto it = jobs_.find(job);
  return it == jobs_.end() ? nullptr : it->second.get();
}

void JobTable::OnOrders(Revision revision, const protocol::JobOrders& orders) {
  const uint64_t id = orders.job.value();
  const auto unserved = unserved_.find(id);
  if (unserved != unserved_.end() && loop_.Now() < unserved->second.next_try) {
    return;
  }
  DropFormer(orders);
  Job* job = Find(id);
  if (job == nullptr) {
    if (!MayTakeUp(orders)) return;
    std::unique_ptr<Job> taken = TakeUp(orders);
    if (taken == nullptr) return;
    job = taken.get();
    jobs_[id] = std::move(taken);
  }
  const absl::Status status = job->OnOrders(revision, orders);
  if (!status.ok()) {
    runtime::Log(runtime::Severity::kWarning, "worker.orders.refused",
                 {{"job", id}, {"cause", status}});
  }
}

void JobTable::DropFormer(const protocol::JobOrders& orders) {
  const uint64_t id = orders.job.value();
  const auto served = jobs_.find(id);
  if (served == jobs_.end()) return;
  if (served->second->uid() != orders.uid) {
    runtime::Log(runtime::Severity::kWarning, "worker.job.replaced",
                 {{"job", id}});
    jobs_.erase(served);
    return;
  }
  if (RestoredAt(orders) == served->second->restored()) return;
  const protocol::RestoredState restored =
      orders.restored.value_or(protocol::RestoredState());
  runtime::Log(runtime::Severity::kWarning, "worker.job.restored",
               {{"job", id},
                {"sequence", restored.sequence.value()},
                {"checkpoint", restored.checkpoint.value()}});
  jobs_.erase(served);
}

bool JobTable::MayTakeUp(const protocol::JobOrders& orders) {
  const auto being_read =
      std::count_if(jobs_.begin(), jobs_.end(),
                    [](const auto& job) { return job.second->IsBeingRead(); });
  // The others follow when one of these sleeps.
  if (IsOver(orders.phase) && being_read >= kReadAtOnce) return false;
  return folders_.Open(orders);
}

std::unique_ptr<Job> JobTable::TakeUp(const protocol::JobOrders& orders) {
  const uint64_t id = orders.job.value();
  std::unique_ptr<Job> job = make_(orders, status_changed_);
  const absl::Status started = job->Start();
  if (!started.ok()) {
    OnUnserved(id, started);
    return nullptr;
  }
  if (unserved_.erase(id) > 0) {
    runtime::Log(runtime::Severity::kInfo, "worker.job.served_again",
                 {{"job", id}});
    status_changed_();
  }
  job->SetDraining(draining_);
  return job;
}

void JobTable::OnUnserved(uint64_t id, const absl::Status& why) {
  Unserved& unserved = unserved_[id];
  unserved.wait =
      unserved.reason.empty()
          ? kServeAgainMin
          : std::clamp(2 * unserved.wait, kServeAgainMin, kServeAgainMax);
  unserved.next_try = loop_.Now() + unserved.wait;
  if (unserved.reason == why.message()) return;
  unserved.reason = std::string(why.message());
  runtime::Log(runtime::Severity::kError, "worker.job.unserved",
               {{"job", id}, {"cause", why}});
  status_changed_();
}

void JobTable::Refuse(const protocol::HeardOrders::Refused& refused) {
  const uint64_t id = refused.job.job.value();
  runtime::Log(runtime::Severity::kWarning, "worker.orders.refused",
               {{"job", id}, {"cause", refused.why}});
  if (id != 0 && !jobs_.contains(id)) {
    unserved_[id].reason = std::string(refused.why.message());
  }
}

void JobTable::KeepOnly(const std::set<uint64_t>& named) {
  absl::erase_if(jobs_,
                 [&](const auto& one) { return !named.contains(one.first); });
  absl::erase_if(unserved_,
                 [&](const auto& one) { return !named.contains(one.first); });
}

void JobTable::StopServing(const StoredJobKey& folder) {
  const auto job = jobs_.find(folder.job.value());
  if (job != jobs_.end() && job->second->uid() == folder.uid) jobs_.erase(job);
}

void JobTable::OnBootChanged(const std::string& reason) {
  for (auto& [id, job] : jobs_) job->OnBootChanged(reason);
}

void JobTable::SetDraining(bool draining) {
  draining_ = draining;
  for (auto& [id, job] : jobs_) job->SetDraining(draining);
}

void JobTable::AddFacts(const std::vector<protocol::CodecSpeed>& speeds,
                        protocol::StatusFacts& facts) const {
  uint64_t seen = facts.seen.value();
  for (const auto& [id, job] : jobs_) {
    seen = std::max(seen, job->highest_number());
    protocol::JobFacts& one = facts.jobs.emplace_back(job->Facts());
    if (job->codecs_by_policy()) one.codec_speeds = speeds;
  }
  facts.seen = Revision(seen);
  // They are being started, as far as the coordinator is concerned: the cause
  // may go away.
  for (const auto& [id, unserved] : unserved_) {
    protocol::JobFacts& one = facts.jobs.emplace_back();
    one.job = JobId(id);
    one.error = absl::StrCat(unserved.reason, "; tried again by itself");
  }
}

}  // namespace skerry::worker
