#include "worker/shell/served_job.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "planner/codec_policy.h"
#include "protocol/fragment_orders.h"
#include "protocol/job_orders.h"
#include "runtime/log.h"

namespace skerry::worker {
namespace {

// The longest time between two looks whether a job that has ended can sleep.
constexpr absl::Duration kLookEvery = absl::Seconds(1);

}  // namespace

ServedJob::ServedJob(const protocol::JobOrders& orders,
                     const JobMachine& machine,
                     std::function<void()> status_changed)
    : machine_(machine),
      status_changed_(std::move(status_changed)),
      orders_(orders),
      had_ended_(IsOver(orders.phase)) {}

absl::Status ServedJob::Start() {
  shell_ = std::make_unique<JobShell>(orders_, machine_,
                                      [this] { status_changed_(); });
  SKERRY_RETURN_IF_ERROR(shell_->Start());
  shell_->SetDraining(draining_);
  return absl::OkStatus();
}

absl::Status ServedJob::Wake() {
  runtime::Log(runtime::Severity::kInfo, "worker.job.awake",
               {{"job", orders_.job.value()}});
  absl::Status woken = Start();
  if (woken.ok()) woken = shell_->OnOrders(revision_, orders_);
  if (!woken.ok()) shell_.reset();
  SleepLater();
  return woken;
}

absl::Status ServedJob::OnOrders(Revision revision,
                                 const protocol::JobOrders& orders) {
  revision_ = revision;
  // Until the job has ended, only what never changes is read from `orders_`, so
  // the first orders are kept.
  if (IsOver(orders.phase) || IsOver(orders_.phase)) orders_ = orders;
  if (shell_ == nullptr) return HasWork() ? Wake() : absl::OkStatus();
  if (IsOver(orders.phase)) SleepLater();
  return shell_->OnOrders(revision, orders);
}

bool ServedJob::HasWork() const {
  if (!IsOver(orders_.phase) || !orders_.generate.empty()) return true;
  // It may have fallen asleep without the job's last state. It has work if some
  // worker has more now.
  for (const protocol::FragmentOrders& fragment : orders_.fragments) {
    Sequence applied;
    for (const protocol::FragmentFacts& own : last_.fragments) {
      if (own.fragment == fragment.fragment) applied = own.applied;
    }
    if (applied >= fragment.newest) continue;
    for (const protocol::Source& source : fragment.sources) {
      if (source.base > applied || source.results_through > applied) {
        return true;
      }
    }
  }
  return false;
}

void ServedJob::SleepLater() {
  if (std::exchange(looks_later_, true)) return;
  machine_.loop.RunAt(
      machine_.loop.Now() + std::min(machine_.times.ended_idle, kLookEvery),
      [this, alive = std::weak_ptr<char>(alive_)] {
        if (alive.expired()) return;
        looks_later_ = false;
        if (shell_ == nullptr || !IsOver(orders_.phase)) return;
        if (!shell_->IsAsleep()) return SleepLater();
        last_ = shell_->Facts();
        highest_number_ = shell_->highest_number();
        last_.generated.clear();
        last_.links.clear();
        shell_.reset();
        machine_.after_sleep();
        if (std::exchange(had_ended_, false)) status_changed_();
        runtime::Log(runtime::Severity::kInfo, "worker.job.asleep",
                     {{"job", orders_.job.value()}});
      });
}

void ServedJob::OnBootChanged(const std::string& reason) {
  revision_ = Revision();
  if (shell_ != nullptr) shell_->OnBootChanged(reason);
}

void ServedJob::SetDraining(bool draining) {
  draining_ = draining;
  if (shell_ != nullptr) shell_->SetDraining(draining);
}

FrameVerdict ServedJob::OnFrame(const compression::FrameHeader& header,
                                const SharedBytes& payload) {
  return shell_ == nullptr ? FrameVerdict::kRefused
                           : shell_->OnFrame(header, payload);
}

absl::StatusOr<SharedBytes> ServedJob::OnFetch(const PieceKey& key) {
  if (shell_ == nullptr) SKERRY_RETURN_IF_ERROR(Wake());
  return shell_->OnFetch(key);
}

void ServedJob::OnDataFetch(const PieceKey& key,
                            transport::BulkReceiver::FetchAnswer answer) {
  const absl::Status awake = shell_ == nullptr ? Wake() : absl::OkStatus();
  if (!awake.ok()) return std::move(answer)(awake);
  shell_->OnDataFetch(key, std::move(answer));
}

void ServedJob::OnAgreeCut(const CutRequest& request, Seat::CutAnswer answer) {
  if (shell_ != nullptr) {
    return shell_->OnAgreeCut(request, std::move(answer));
  }
  std::move(answer)(absl::AbortedError(
      absl::StrCat("job ", orders_.job.value(), " has ended")));
}

void ServedJob::OnMeet(const MeetRequest& request,
                       GroupMeeting::Answer answer) {
  if (shell_ != nullptr) return shell_->OnMeet(request, std::move(answer));
  std::move(answer)(absl::AbortedError(
      absl::StrCat("job ", orders_.job.value(), " has ended")));
}

protocol::JobFacts ServedJob::Facts() const {
  return shell_ == nullptr ? last_ : shell_->Facts();
}

bool ServedJob::codecs_by_policy() const {
  return planner::IsCodecPolicy(orders_.spec.exchange.codec);
}

}  // namespace skerry::worker
