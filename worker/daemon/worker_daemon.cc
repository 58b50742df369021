#include "worker/daemon/worker_daemon.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/release.h"
#include "base/status.h"
#include "protocol/convert/status.h"
#include "runtime/log.h"
#include "transport/grpc/identity_metrics.h"
#include "worker/daemon/peer_addresses.h"
#include "worker/daemon/worker_metrics.h"
#include "worker/shell/served_job.h"

namespace skerry::worker {
namespace {

// A Status well before the lease ends, and another if that one is lost.
constexpr double kStatusShareOfLease = 0.3;
// Waits before a job that could not be served is tried again. Orders come with
// every Status, so a shorter one would make no difference.
constexpr absl::Duration kServeAgainMin = absl::Seconds(1);
constexpr absl::Duration kServeAgainMax = absl::Minutes(1);
// Jobs that had ended before the process started, and whose states are read
// into memory at a time.
constexpr int kReadAtOnce = 2;

// For people, in ASCII: a source may have the path of any file in its name.
std::string DrainReason(const PendingNotice& notice) {
  constexpr size_t kSourceBytesMax = 256;
  return absl::StrCat(
      "preemption notice of ",
      absl::CHexEscape(notice.source).substr(0, kSourceBytesMax), ": ",
      notice.what);
}

}  // namespace

WorkerDaemon::WorkerDaemon(WorkerOptions options,
                           const JobEnvironment& environment)
    : options_(std::move(options)),
      environment_(environment),
      session_(
          options_.session, environment.loop,
          [this](const v1::Orders& orders) {
            OnOrders(protocol::OrdersFromProto(orders));
          },
          [this](SessionEnd end) { OnSessionEnd(end); }),
      boot_(options_.draw_boot()),
      data_(environment.loop, environment.save, [this] { StatusChanged(); }),
      first_boot_(boot_),
      status_interval_(options_.status_interval),
      folders_(KeepFolders()),
      access_(options_.name),
      revoked_(options_.session.credentials->revocations()),
      tries_(environment.loop, options_.dial_peer, options_.outbound_only,
             [this] { StatusChanged(); }),
      pieces_(options_.session.coordinator, options_.session.credentials,
              [this](const protocol::PieceKey& key) {
                return OnFetch({"coordinator", false}, key);
              }) {}

WorkerDaemon::~WorkerDaemon() = default;

FolderKeeperOptions WorkerDaemon::KeepFolders() {
  return {
      .loop = environment_.loop,
      .disk = environment_.disk,
      .files = environment_.files,
      .state_directory = environment_.state_directory,
      .retention = options_.retention,
      .unix_ms = [this] { return options_.look ? options_.look().unix_ms : 0; },
      .stop_serving =
          [this](const StoredJobKey& folder) { StopServing(folder); },
      .status_changed = [this] { StatusChanged(); }};
}

void WorkerDaemon::StopServing(const StoredJobKey& folder) {
  const auto job = jobs_.find(folder.job.value());
  if (job != jobs_.end() && job->second->uid() == folder.uid) jobs_.erase(job);
}

void WorkerDaemon::Start() {
  folders_.Start();
  environment_.data_cache.Start();
  environment_.programs.KeepLooking(
      [this, alive = std::weak_ptr<char>(alive_)] {
        if (!alive.expired()) StatusChanged();
      });
  KeepSendingStatus();
  MeasureCodecsOn(environment_.compute, environment_.loop, alive_,
                  [this](std::vector<protocol::CodecSpeed> speeds) {
                    codec_speeds_ = std::move(speeds);
                    StatusChanged();
                  });
}

void WorkerDaemon::Drain(absl::AnyInvocable<void() &&> done) {
  runtime::Log(runtime::Severity::kInfo, "worker.drain");
  ends_ = true;
  on_released_ = std::move(done);
  SetJobsDraining();
  SendStatus();
  if (released_) OnReleased();
}

void WorkerDaemon::SetNotice(const std::optional<PendingNotice>& notice) {
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

void WorkerDaemon::LookAtDeadline(const PendingNotice& notice) {
  environment_.loop.RunAt(
      notice.deadline, [this, notice, alive = std::weak_ptr<char>(alive_)] {
        if (alive.expired() || released_ || notice_ != notice) return;
        runtime::Log(runtime::Severity::kWarning, "worker.drain.late",
                     {{"reason", DrainReason(notice)}});
      });
}

void WorkerDaemon::OnReleased() {
  if (!std::exchange(released_, true)) {
    runtime::Log(runtime::Severity::kInfo, "worker.released");
  }
  if (on_released_) std::exchange(on_released_, nullptr)();
}

void WorkerDaemon::SetJobsDraining() {
  for (auto& [id, job] : jobs_) job->SetDraining(Leaves() || told_to_drain_);
}

void WorkerDaemon::Stop(absl::AnyInvocable<void() &&> done) {
  stopping_ = true;
  jobs_.clear();
  session_.Shutdown(std::move(done));
}

FrameVerdict WorkerDaemon::OnFrame(const std::string& from,
                                   const compression::FrameHeader& header,
                                   const SharedBytes& payload) {
  if (!access_.MaySend(from, header, environment_.loop.Now())) {
    return FrameVerdict::kRefused;
  }
  const auto job = jobs_.find(header.job);
  // A peer may hear of a job before this worker does.
  if (job == jobs_.end()) return FrameVerdict::kNotYet;
  return job->second->OnFrame(header, payload);
}

absl::StatusOr<Job*> WorkerDaemon::FindToFetch(
    const transport::Fetcher& fetcher, JobId id) {
  SKERRY_RETURN_IF_ERROR(
      access_.CheckFetch(fetcher, id, environment_.loop.Now()));
  const auto job = jobs_.find(id.value());
  if (job != jobs_.end()) return job->second.get();
  return absl::NotFoundError(
      absl::StrCat(options_.name, " does not serve job ", id.value()));
}

absl::StatusOr<SharedBytes> WorkerDaemon::OnFetch(
    const transport::Fetcher& fetcher, const PieceKey& key) {
  SKERRY_ASSIGN_OR_RETURN(Job* const job, FindToFetch(fetcher, key.job));
  return job->OnFetch(key);
}

void WorkerDaemon::OnDataFetch(const transport::Fetcher& fetcher,
                               const PieceKey& key, FetchAnswer answer) {
  const absl::StatusOr<Job*> job = FindToFetch(fetcher, key.job);
  if (!job.ok()) return std::move(answer)(job.status());
  (*job)->OnDataFetch(key, std::move(answer));
}

void WorkerDaemon::OnOrders(const protocol::HeardOrders& heard) {
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
  LearnAddresses(orders, *options_.session.credentials, options_.relay,
                 environment_.directory);
  tries_.OnOrders(orders, environment_.bulk.unreached());
  revoked_.OnOrders(orders.revoked);
  data_.OnPaths(orders.data_paths);
  std::set<uint64_t> named;
  FolderOrders folders = FoldersIn(orders);
  for (const protocol::JobOrders& job : orders.jobs) {
    named.insert(job.job.value());
    access_.Learn(job);
    OnJobOrders(revision_, job);
  }
  for (const protocol::HeardOrders::Refused& job : heard.refused) {
    named.insert(job.job.job.value());
    folders.live.push_back(job.job);
    Refuse(job);
  }
  // Orders are complete: a job they do not name is none of ours any more.
  for (auto it = jobs_.begin(); it != jobs_.end();) {
    it = named.contains(it->first) ? std::next(it) : jobs_.erase(it);
  }
  access_.KeepOnly(named);
  absl::erase_if(unserved_,
                 [&](const auto& one) { return !named.contains(one.first); });
  folders_.OnOrders(folders);
  pieces_.OnOrders(orders.pieces);
  if (orders.released && Leaves()) {
    OnReleased();
  } else {
    // What it has may be needed again, when others are lost.
    released_ = false;
  }
}

void WorkerDaemon::Refuse(const protocol::HeardOrders::Refused& refused) {
  const uint64_t id = refused.job.job.value();
  runtime::Log(runtime::Severity::kWarning, "worker.orders.refused",
               {{"job", id}, {"cause", refused.why}});
  if (id != 0 && !jobs_.contains(id)) {
    unserved_[id].reason = std::string(refused.why.message());
  }
}

bool WorkerDaemon::MayTakeUp(const protocol::JobOrders& orders) {
  const auto being_read =
      std::count_if(jobs_.begin(), jobs_.end(),
                    [](const auto& job) { return job.second->IsBeingRead(); });
  // The others follow when one of these sleeps.
  if (IsOver(orders.phase) && being_read >= kReadAtOnce) return false;
  return folders_.Open(orders);
}

void WorkerDaemon::OnJobOrders(Revision revision,
                               const protocol::JobOrders& orders) {
  const uint64_t id = orders.job.value();
  const auto unserved = unserved_.find(id);
  if (unserved != unserved_.end() &&
      environment_.loop.Now() < unserved->second.next_try) {
    return;
  }
  const auto served = jobs_.find(id);
  if (served != jobs_.end() && served->second->uid() != orders.uid) {
    runtime::Log(runtime::Severity::kWarning, "worker.job.replaced",
                 {{"job", id}});
    jobs_.erase(served);
  }
  if (!jobs_.contains(id) && !MayTakeUp(orders)) return;
  std::unique_ptr<Job>& job = jobs_[id];
  if (job != nullptr && RestoredAt(orders) != job->restored()) {
    const protocol::RestoredState restored =
        orders.restored.value_or(protocol::RestoredState());
    runtime::Log(runtime::Severity::kWarning, "worker.job.restored",
                 {{"job", id},
                  {"sequence", restored.sequence.value()},
                  {"checkpoint", restored.checkpoint.value()}});
    job.reset();
  }
  if (job == nullptr) {
    job = std::make_unique<ServedJob>(orders, MachineOf(environment_),
                                      [this] { StatusChanged(); });
    if (!StartJob(*job, id)) {
      jobs_.erase(id);
      return;
    }
    job->SetDraining(Leaves() || told_to_drain_);
  }
  const absl::Status status = job->OnOrders(revision, orders);
  if (!status.ok()) {
    runtime::Log(runtime::Severity::kWarning, "worker.orders.refused",
                 {{"job", id}, {"cause", status}});
  }
}

bool WorkerDaemon::StartJob(Job& job, uint64_t id) {
  const absl::Status status = job.Start();
  if (status.ok()) {
    if (unserved_.erase(id) > 0) {
      runtime::Log(runtime::Severity::kInfo, "worker.job.served_again",
                   {{"job", id}});
      StatusChanged();
    }
    return true;
  }
  Unserved& unserved = unserved_[id];
  unserved.wait =
      unserved.reason.empty()
          ? kServeAgainMin
          : std::clamp(2 * unserved.wait, kServeAgainMin, kServeAgainMax);
  unserved.next_try = environment_.loop.Now() + unserved.wait;
  const bool same = unserved.reason == status.message();
  unserved.reason = std::string(status.message());
  if (!same) {
    runtime::Log(runtime::Severity::kError, "worker.job.unserved",
                 {{"job", id}, {"cause", status}});
    StatusChanged();
  }
  return false;
}

void WorkerDaemon::OnSessionEnd(const SessionEnd& end) {
  if (stopping_) return;
  folders_.OnSessionEnd();
  const bool was_connected = std::exchange(connected_, false);
  if (end.asked) return SendStatus();
  sessions_lost_ += was_connected ? 1 : 0;
  lost_ = end.status;
  const bool for_good =
      absl::IsAlreadyExists(end.status) ||
      (absl::IsFailedPrecondition(end.status) && !incarnation_.is_set());
  if (for_good && options_.on_refused) {
    options_.on_refused(end.status);
    return;
  }
  if (!end.repeated) {
    runtime::Log(runtime::Severity::kWarning, "worker.session.lost",
                 {{"cause", end.status}});
  }
  if (absl::IsAborted(end.status)) {
    TakeNewBoot(std::string(end.status.message()));
    return;
  }
  SendStatus();
}

void WorkerDaemon::TakeNewBoot(const std::string& reason) {
  boot_ = options_.draw_boot();
  incarnation_ = Incarnation();
  revision_ = Revision();
  released_ = false;
  runtime::Log(runtime::Severity::kInfo, "worker.boot", {{"reason", reason}});
  for (auto& [id, job] : jobs_) job->OnBootChanged(reason);
  SendStatus();
}

void WorkerDaemon::StatusChanged() {
  if (std::exchange(status_due_, true)) return;
  environment_.loop.Post([this, alive = std::weak_ptr<char>(alive_)] {
    if (!alive.expired()) SendStatus();
  });
}

protocol::StatusFacts WorkerDaemon::Facts() const {
  protocol::StatusFacts facts;
  facts.release = kRelease;
  facts.self = {options_.name,           options_.address,
                options_.island_address, options_.outbound_only,
                options_.relay,          options_.more_addresses};
  facts.island = options_.island;
  facts.boot = Boot(boot_);
  facts.incarnation = incarnation_;
  facts.counter = counter_;
  facts.draining = Leaves();
  if (notice_.has_value()) facts.drain_reason = DrainReason(*notice_);
  facts.folder = options_.folder;
  facts.process = Boot(first_boot_);
  uint64_t seen = seen_.value();
  for (const auto& [id, job] : jobs_) {
    seen = std::max(seen, job->highest_number());
  }
  facts.seen = Revision(seen);
  if (options_.look) facts.machine = options_.look();
  // The coordinator keeps those workers of an island apart that name different
  // hosts. Who also meets trainers on other hosts names none.
  if (!environment_.island_address.empty()) facts.machine.host.clear();
  facts.looks_at_data = true;
  facts.data = data_.Facts();
  for (const auto& [id, job] : jobs_) {
    protocol::JobFacts& one = facts.jobs.emplace_back(job->Facts());
    if (job->codecs_by_policy()) one.codec_speeds = codec_speeds_;
  }
  facts.stored = folders_.Stored();
  facts.programs = environment_.programs.Facts();
  facts.takes_streams = facts.takes_relays = facts.fetches_data = true;
  facts.unreached = environment_.bulk.unreached();
  facts.tried = tries_.Told();
  facts.revoked_version = revoked_.version();
  // They are being started, as far as the coordinator is concerned: the cause
  // may go away.
  for (const auto& [id, unserved] : unserved_) {
    protocol::JobFacts& one = facts.jobs.emplace_back();
    one.job = JobId(id);
    one.error = absl::StrCat(unserved.reason, "; tried again by itself");
  }
  return facts;
}

void WorkerDaemon::SendStatus() {
  status_due_ = false;
  if (stopping_) return;
  ++counter_;
  v1::Status status;
  StatusToProto(Facts(), &status);
  session_.Send(std::move(status));
}

std::vector<runtime::Metric> WorkerDaemon::Metrics() const {
  WorkerFacts facts{.status = Facts(),
                    .job_names = {},
                    .connected = connected_,
                    .sessions_lost = sessions_lost_};
  for (const auto& [id, job] : jobs_) facts.job_names[id] = job->name();
  std::vector<runtime::Metric> metrics = MetricsOf(facts);
  transport::AddIdentityMetrics(*options_.session.credentials, metrics);
  environment_.data_cache.AddMetrics(metrics);
  access_.AddMetrics(metrics);
  tries_.AddMetrics(metrics);
  return metrics;
}

absl::Status WorkerDaemon::Ready() const {
  if (connected_) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("the coordinator does not answer: ", lost_.message()));
}

void WorkerDaemon::KeepSendingStatus() {
  SendStatus();
  environment_.loop.RunAt(environment_.loop.Now() + status_interval_,
                          [this, alive = std::weak_ptr<char>(alive_)] {
                            if (!alive.expired() && !stopping_) {
                              KeepSendingStatus();
                            }
                          });
}

}  // namespace skerry::worker
