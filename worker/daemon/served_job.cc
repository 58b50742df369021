#include "worker/daemon/served_job.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "planner/codec_policy.h"
#include "protocol/fragment_orders.h"
#include "protocol/job_orders.h"
#include "runtime/log.h"
#include "runtime/posix/heap.h"

namespace skerry::worker {
namespace {

// The longest time between two looks whether a job that has ended can sleep.
constexpr absl::Duration kLookEvery = absl::Seconds(1);

}  // namespace

ServedJob::ServedJob(const protocol::JobOrders& orders,
                     const JobEnvironment& environment,
                     std::function<void()> status_changed)
    : environment_(environment),
      status_changed_(std::move(status_changed)),
      orders_(orders),
      had_ended_(IsOver(orders.phase)) {}

absl::Status ServedJob::Start() {
  runtime_ = std::make_unique<JobRuntime>(orders_, environment_,
                                          [this] { status_changed_(); });
  SKERRY_RETURN_IF_ERROR(runtime_->Start());
  runtime_->SetDraining(draining_);
  return absl::OkStatus();
}

absl::Status ServedJob::Wake() {
  runtime::Log(runtime::Severity::kInfo, "worker.job.awake",
               {{"job", orders_.job.value()}});
  absl::Status woken = Start();
  if (woken.ok()) woken = runtime_->OnOrders(revision_, orders_);
  if (!woken.ok()) runtime_.reset();
  SleepLater();
  return woken;
}

absl::Status ServedJob::OnOrders(Revision revision,
                                 const protocol::JobOrders& orders) {
  revision_ = revision;
  // Until the job has ended, only what never changes is read from `orders_`, so
  // the first orders are kept.
  if (IsOver(orders.phase) || IsOver(orders_.phase)) orders_ = orders;
  if (runtime_ == nullptr) return HasWork() ? Wake() : absl::OkStatus();
  if (IsOver(orders.phase)) SleepLater();
  return runtime_->OnOrders(revision, orders);
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
  environment_.loop.RunAt(
      environment_.loop.Now() + std::min(environment_.ended_idle, kLookEvery),
      [this, alive = std::weak_ptr<char>(alive_)] {
        if (alive.expired()) return;
        looks_later_ = false;
        if (runtime_ == nullptr || !IsOver(orders_.phase)) return;
        if (!runtime_->IsAsleep()) return SleepLater();
        last_ = runtime_->Facts();
        highest_number_ = runtime_->highest_number();
        last_.generated.clear();
        last_.links.clear();
        runtime_.reset();
        runtime::ReturnFreeHeap();
        if (std::exchange(had_ended_, false)) status_changed_();
        runtime::Log(runtime::Severity::kInfo, "worker.job.asleep",
                     {{"job", orders_.job.value()}});
      });
}

void ServedJob::OnBootChanged(const std::string& reason) {
  revision_ = Revision();
  if (runtime_ != nullptr) runtime_->OnBootChanged(reason);
}

void ServedJob::SetDraining(bool draining) {
  draining_ = draining;
  if (runtime_ != nullptr) runtime_->SetDraining(draining);
}

FrameVerdict ServedJob::OnFrame(const compression::FrameHeader& header,
                                const SharedBytes& payload) {
  return runtime_ == nullptr ? FrameVerdict::kRefused
                             : runtime_->OnFrame(header, payload);
}

absl::StatusOr<SharedBytes> ServedJob::OnFetch(const PieceKey& key) {
  if (runtime_ == nullptr) SKERRY_RETURN_IF_ERROR(Wake());
  return runtime_->OnFetch(key);
}

void ServedJob::OnDataFetch(const PieceKey& key,
                            transport::BulkReceiver::FetchAnswer answer) {
  const absl::Status awake = runtime_ == nullptr ? Wake() : absl::OkStatus();
  if (!awake.ok()) return std::move(answer)(awake);
  runtime_->OnDataFetch(key, std::move(answer));
}

void ServedJob::OnAgreeCut(const CutRequest& request, Seat::CutAnswer answer) {
  if (runtime_ != nullptr) {
    return runtime_->OnAgreeCut(request, std::move(answer));
  }
  std::move(answer)(absl::AbortedError(
      absl::StrCat("job ", orders_.job.value(), " has ended")));
}

void ServedJob::OnMeet(const MeetRequest& request,
                       GroupMeeting::Answer answer) {
  if (runtime_ != nullptr) return runtime_->OnMeet(request, std::move(answer));
  std::move(answer)(absl::AbortedError(
      absl::StrCat("job ", orders_.job.value(), " has ended")));
}

protocol::JobFacts ServedJob::Facts() const {
  return runtime_ == nullptr ? last_ : runtime_->Facts();
}

bool ServedJob::codecs_by_policy() const {
  return planner::IsCodecPolicy(orders_.spec.exchange.codec);
}

}  // namespace skerry::worker
