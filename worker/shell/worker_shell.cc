#include "worker/shell/worker_shell.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/release.h"
#include "base/status.h"
#include "runtime/log.h"

namespace skerry::worker {
namespace {

// A Status well before the lease ends, and another if that one is lost.
constexpr double kStatusShareOfLease = 0.3;

// For people, in ASCII: a source may have the path of any file in its name.
std::string DrainReason(const PendingNotice& notice) {
  constexpr size_t kSourceBytesMax = 256;
  return absl::StrCat(
      "preemption notice of ",
      absl::CHexEscape(notice.source).substr(0, kSourceBytesMax), ": ",
      notice.what);
}

}  // namespace

WorkerShell::WorkerShell(ShellOptions options, ShellPorts ports)
    : options_(std::move(options)),
      loop_(ports.loop),
      machine_(ports.machine),
      session_(
          options_.session, ports.loop, ports.session,
          [this](const protocol::HeardOrders& heard) { OnOrders(heard); },
          [this](const SessionEnd& end) { OnSessionEnd(end); }),
      boot_(options_.draw_boot()),
      first_boot_(boot_),
      status_interval_(options_.status_interval),
      folders_({.loop = ports.loop,
                .disk = ports.folders,
                .retention = options_.retention,
                .unix_ms = options_.unix_ms,
                .stop_serving =
                    [this](const StoredJobKey& folder) {
                      jobs_.StopServing(folder);
                    },
                .status_changed = [this] { StatusChanged(); }}),
      jobs_(ports.loop, folders_, std::move(ports.make_job),
            [this] { StatusChanged(); }),
      access_(options_.self.worker) {}

void WorkerShell::Start() {
  folders_.Start();
  KeepSendingStatus();
}

void WorkerShell::Drain(absl::AnyInvocable<void() &&> done) {
  runtime::Log(runtime::Severity::kInfo, "worker.drain");
  ends_ = true;
  on_released_ = std::move(done);
  SetJobsDraining();
  SendStatus();
  if (released_) OnReleased();
}

void WorkerShell::SetNotice(const std::optional<PendingNotice>& notice) {
  if (stopping_) return;
  notice_ = notice;
  if (notice_.has_value()) {
    runtime::Log(runtime::Severity::kInfo, "worker.drain",
                 {{"reason", DrainReason(*notice_)}});
    LookAtDeadline(*notice_);
    SetJobsDraining();
    SendStatus();
    return;
  }
  if (ends_) return;
  // The coordinator keeps it that this boot drains.
  session_.Reopen();
  TakeNewBoot("the preemption notice was withdrawn");
  SetJobsDraining();
}

void WorkerShell::LookAtDeadline(const PendingNotice& notice) {
  loop_.RunAt(notice.deadline,
              [this, notice, alive = std::weak_ptr<char>(alive_)] {
                if (alive.expired() || released_ || notice_ != notice) return;
                runtime::Log(runtime::Severity::kWarning, "worker.drain.late",
                             {{"reason", DrainReason(notice)}});
              });
}

void WorkerShell::OnReleased() {
  if (!std::exchange(released_, true)) {
    runtime::Log(runtime::Severity::kInfo, "worker.released");
  }
  if (on_released_) std::exchange(on_released_, nullptr)();
}

void WorkerShell::Stop(absl::AnyInvocable<void() &&> done) {
  stopping_ = true;
  jobs_.Clear();
  session_.Shutdown(std::move(done));
}

void WorkerShell::SetCodecSpeeds(std::vector<protocol::CodecSpeed> speeds) {
  codec_speeds_ = std::move(speeds);
  StatusChanged();
}

protocol::FrameVerdict WorkerShell::OnFrame(
    const std::string& from, const compression::FrameHeader& header,
    const SharedBytes& payload) {
  if (!access_.MaySend(from, header, loop_.Now())) {
    return protocol::FrameVerdict::kRefused;
  }
  Job* const job = jobs_.Find(header.job);
  // A peer may hear of a job before this worker does.
  if (job == nullptr) return protocol::FrameVerdict::kNotYet;
  return job->OnFrame(header, payload);
}

absl::StatusOr<Job*> WorkerShell::FindToFetch(const transport::Fetcher& fetcher,
                                              JobId id) {
  SKERRY_RETURN_IF_ERROR(access_.CheckFetch(fetcher, id, loop_.Now()));
  Job* const job = jobs_.Find(id.value());
  if (job != nullptr) return job;
  return absl::NotFoundError(
      absl::StrCat(options_.self.worker, " does not serve job ", id.value()));
}

absl::StatusOr<Job*> WorkerShell::FindServed(JobId id) const {
  Job* const job = jobs_.Find(id.value());
  if (job != nullptr) return job;
  return absl::UnavailableError(
      absl::StrCat(options_.self.worker, " does not serve job ", id.value()));
}

absl::StatusOr<SharedBytes> WorkerShell::OnFetch(
    const transport::Fetcher& fetcher, const protocol::PieceKey& key) {
  SKERRY_ASSIGN_OR_RETURN(Job* const job, FindToFetch(fetcher, key.job));
  return job->OnFetch(key);
}

void WorkerShell::OnDataFetch(const transport::Fetcher& fetcher,
                              const protocol::PieceKey& key,
                              FetchAnswer answer) {
  const absl::StatusOr<Job*> job = FindToFetch(fetcher, key.job);
  if (!job.ok()) return std::move(answer)(job.status());
  (*job)->OnDataFetch(key, std::move(answer));
}

void WorkerShell::OnAgreeCut(JobId id, const CutRequest& request,
                             const std::optional<std::string>& worker,
                             Seat::CutAnswer answer) {
  const absl::StatusOr<Job*> job = FindServed(id);
  if (!job.ok()) return std::move(answer)(job.status());
  const absl::Status may = access_.CheckCut(worker, id, request, loop_.Now());
  if (!may.ok()) return std::move(answer)(may);
  (*job)->OnAgreeCut(request, std::move(answer));
}

void WorkerShell::OnMeet(JobId id, const MeetRequest& request,
                         const std::optional<std::string>& worker,
                         GroupMeeting::Answer answer) {
  const absl::StatusOr<Job*> job = FindServed(id);
  if (!job.ok()) return std::move(answer)(job.status());
  const absl::Status may = access_.CheckMeet(worker, id, request, loop_.Now());
  if (!may.ok()) return std::move(answer)(may);
  (*job)->OnMeet(request, std::move(answer));
}

void WorkerShell::OnOrders(const protocol::HeardOrders& heard) {
  const protocol::Orders& orders = heard.orders;
  if (stopping_ || orders.boot != Boot(boot_)) return;
  connected_ = true;
  if (orders.revision < revision_) return;
  revision_ = orders.revision;
  seen_ = std::max(seen_, revision_);
  if (incarnation_ != orders.incarnation) {
    incarnation_ = orders.incarnation;
    runtime::Log(runtime::Severity::kInfo, "worker.admitted",
                 {{"incarnation", incarnation_.value()}});
  }
  if (orders.lease > absl::ZeroDuration()) {
    status_interval_ = kStatusShareOfLease * orders.lease;
  }
  if (std::exchange(told_to_drain_, orders.drain) != orders.drain) {
    runtime::Log(runtime::Severity::kInfo, "worker.told_to_drain",
                 {{"drain", orders.drain}});
    SetJobsDraining();
  }
  machine_.OnOrders(orders);
  FollowJobs(heard);
  machine_.OnJobsTakenUp(orders);
  if (orders.released && Leaves()) {
    OnReleased();
  } else {
    // What it has may be needed again, when others are lost.
    released_ = false;
  }
}

void WorkerShell::FollowJobs(const protocol::HeardOrders& heard) {
  std::set<uint64_t> named;
  FolderOrders folders = FoldersIn(heard.orders);
  for (const protocol::JobOrders& job : heard.orders.jobs) {
    named.insert(job.job.value());
    access_.Learn(job);
    jobs_.OnOrders(revision_, job);
  }
  for (const protocol::HeardOrders::Refused& job : heard.refused) {
    named.insert(job.job.job.value());
    folders.live.push_back(job.job);
    jobs_.Refuse(job);
  }
  jobs_.KeepOnly(named);
  access_.KeepOnly(named);
  folders_.OnOrders(folders);
}

void WorkerShell::OnSessionEnd(const SessionEnd& end) {
  if (stopping_) return;
  folders_.OnSessionEnd();
  const bool was_connected = std::exchange(connected_, false);
  if (end.asked) return SendStatus();
  sessions_lost_ += was_connected ? 1 : 0;
  lost_ = end.status;
  const bool for_good =
      absl::IsAlreadyExists(end.status) ||
      (absl::IsFailedPrecondition(end.status) && !incarnation_.is_set());
  if (for_good) return options_.on_refused(end.status);
  if (!end.repeated) {
    runtime::Log(runtime::Severity::kWarning, "worker.session.lost",
                 {{"cause", end.status}});
  }
  if (absl::IsAborted(end.status)) {
    return TakeNewBoot(std::string(end.status.message()));
  }
  SendStatus();
}

void WorkerShell::TakeNewBoot(const std::string& reason) {
  boot_ = options_.draw_boot();
  incarnation_ = Incarnation();
  revision_ = Revision();
  released_ = false;
  runtime::Log(runtime::Severity::kInfo, "worker.boot", {{"reason", reason}});
  jobs_.OnBootChanged(reason);
  SendStatus();
}

void WorkerShell::StatusChanged() {
  if (std::exchange(status_due_, true)) return;
  loop_.Post([this, alive = std::weak_ptr<char>(alive_)] {
    // One that was sent meanwhile has said it all.
    if (!alive.expired() && status_due_) SendStatus();
  });
}

protocol::StatusFacts WorkerShell::Facts() const {
  protocol::StatusFacts facts;
  facts.release = kRelease;
  facts.self = options_.self;
  facts.island = options_.island;
  facts.boot = Boot(boot_);
  facts.incarnation = incarnation_;
  facts.counter = counter_;
  facts.draining = Leaves();
  if (notice_.has_value()) facts.drain_reason = DrainReason(*notice_);
  facts.folder = options_.folder;
  facts.process = Boot(first_boot_);
  facts.seen = seen_;
  facts.stored = folders_.Stored();
  jobs_.AddFacts(codec_speeds_, facts);
  machine_.AddFacts(facts);
  return facts;
}

void WorkerShell::SendStatus() {
  status_due_ = false;
  if (stopping_) return;
  ++counter_;
  session_.Send(Facts());
}

absl::Status WorkerShell::Ready() const {
  if (connected_) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("the coordinator does not answer: ", lost_.message()));
}

void WorkerShell::KeepSendingStatus() {
  SendStatus();
  loop_.RunAt(loop_.Now() + status_interval_,
              [this, alive = std::weak_ptr<char>(alive_)] {
                if (!alive.expired() && !stopping_) KeepSendingStatus();
              });
}

}  // namespace skerry::worker
