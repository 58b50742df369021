#include "worker/daemon/worker_daemon.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/release.h"
#include "compression/codec.h"
#include "runtime/log.h"
#include "runtime/posix/stopwatch.h"
#include "worker/convert/control.h"
#include "worker/convert/peer.h"
#include "worker/daemon/worker_metrics.h"

namespace skerry::worker {
namespace {

// A Status well before the lease ends, and another if that one is lost.
constexpr double kStatusShareOfLease = 0.3;
// A slow machine goes without the speeds of what it does not reach.
constexpr double kMeasureCodecsMaxS = 1.0;
// Waits before a job that could not be served is tried again. Orders come with
// every Status, so a shorter one would make no difference.
constexpr absl::Duration kServeAgainMin = absl::Seconds(1);
constexpr absl::Duration kServeAgainMax = absl::Minutes(1);
// Jobs that had ended before the process started, and whose states are read
// into memory at a time.
constexpr int kReadAtOnce = 2;

transport::Verdict ToVerdict(FrameVerdict verdict) {
  switch (verdict) {
    case FrameVerdict::kAccepted:
      return transport::Verdict::kAccepted;
    case FrameVerdict::kRefused:
      return transport::Verdict::kRefused;
    case FrameVerdict::kNotYet:
      return transport::Verdict::kNotYet;
  }
  return transport::Verdict::kRefused;
}

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
          [this](v1::Orders orders) { OnOrders(std::move(orders)); },
          [this](SessionEnd end) { OnSessionEnd(end); }),
      boot_(options_.draw_boot()),
      data_(environment.loop, environment.save, [this] { StatusChanged(); }),
      first_boot_(boot_),
      status_interval_(options_.status_interval),
      folders_(KeepFolders()) {}

WorkerDaemon::~WorkerDaemon() = default;

FolderKeeperOptions WorkerDaemon::KeepFolders() {
  return {
      .loop = environment_.loop,
      .disk = environment_.disk,
      .files = environment_.files,
      .state_directory = environment_.state_directory,
      .retention = options_.retention,
      .unix_ms = [this] { return options_.look ? options_.look().unix_ms : 0; },
      .stop_serving = [this](const JobFolder& folder) { StopServing(folder); },
      .status_changed = [this] { StatusChanged(); }};
}

void WorkerDaemon::StopServing(const JobFolder& folder) {
  const auto job = jobs_.find(folder.job.value());
  if (job != jobs_.end() && job->second->uid() == folder.uid) jobs_.erase(job);
}

void WorkerDaemon::Start() {
  folders_.Start();
  KeepSendingStatus();
  LearnCodecSpeeds();
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

transport::Verdict WorkerDaemon::OnFrame(const compression::FrameHeader& header,
                                         const transport::Payload& payload) {
  const auto job = jobs_.find(header.job);
  // A peer may hear of a job before this worker does.
  if (job == jobs_.end()) return transport::Verdict::kNotYet;
  return ToVerdict(job->second->OnFrame(
      header, SharedBytes{payload.owner(), payload.bytes()}));
}

absl::StatusOr<transport::Payload> WorkerDaemon::OnFetch(
    const transport::FetchKey& key) {
  const auto job = jobs_.find(key.job);
  if (job == jobs_.end()) {
    return absl::NotFoundError(
        absl::StrCat(options_.name, " does not serve job ", key.job));
  }
  absl::StatusOr<SharedBytes> bytes = job->second->OnFetch(FromFetchKey(key));
  if (!bytes.ok()) return bytes.status();
  return transport::Payload(bytes->owner, bytes->bytes);
}

void WorkerDaemon::OnAgreeCut(const v1::AgreeCutRequest& request,
                              PeerService::Answer answer) {
  const auto job = jobs_.find(request.job());
  if (job == jobs_.end()) {
    std::move(answer)(absl::UnavailableError(
        absl::StrCat(options_.name, " does not serve job ", request.job())));
    return;
  }
  absl::StatusOr<CutRequest> checked = CutRequestFromProto(request);
  if (!checked.ok()) {
    std::move(answer)(checked.status());
    return;
  }
  job->second->OnAgreeCut(
      *checked,
      [answer = std::move(answer)](absl::StatusOr<CutReply> reply) mutable {
        if (!reply.ok()) {
          std::move(answer)(reply.status());
          return;
        }
        v1::AgreeCutReply out;
        CutReplyToProto(*reply, &out);
        std::move(answer)(std::move(out));
      });
}

void WorkerDaemon::OnOrders(v1::Orders orders) {
  if (stopping_ || orders.boot() != boot_) return;
  connected_ = true;
  const Revision revision(orders.revision());
  if (revision < revision_) return;
  revision_ = revision;
  seen_ = std::max(seen_, revision);
  if (incarnation_ != Incarnation(orders.incarnation())) {
    incarnation_ = Incarnation(orders.incarnation());
    runtime::Log(runtime::Severity::kInfo, "worker.admitted",
                 {{"incarnation", incarnation_.value()}});
  }
  if (orders.lease_ms() > 0) {
    status_interval_ =
        kStatusShareOfLease * absl::Milliseconds(orders.lease_ms());
  }
  if (std::exchange(told_to_drain_, orders.drain()) != orders.drain()) {
    runtime::Log(runtime::Severity::kInfo, "worker.told_to_drain",
                 {{"drain", orders.drain()}});
    SetJobsDraining();
  }
  data_.OnPaths({orders.data_paths().begin(), orders.data_paths().end()});
  std::set<uint64_t> named;
  for (const v1::JobOrders& job : orders.jobs()) {
    named.insert(job.job());
    OnJobOrders(revision, job);
  }
  // Orders are complete: a job they do not name is none of ours any more.
  for (auto it = jobs_.begin(); it != jobs_.end();) {
    it = named.contains(it->first) ? std::next(it) : jobs_.erase(it);
  }
  absl::erase_if(unserved_,
                 [&](const auto& one) { return !named.contains(one.first); });
  folders_.OnOrders(orders);
  if (orders.released() && Leaves()) {
    OnReleased();
  } else {
    // What it has may be needed again, when others are lost.
    released_ = false;
  }
}

bool WorkerDaemon::MayTakeUp(const v1::JobOrders& orders) {
  const auto being_read =
      std::count_if(jobs_.begin(), jobs_.end(),
                    [](const auto& job) { return job.second->IsBeingRead(); });
  // The others follow when one of these sleeps.
  if (HasEnded(orders.phase()) && being_read >= kReadAtOnce) return false;
  return folders_.Open(orders);
}

void WorkerDaemon::OnJobOrders(Revision revision, const v1::JobOrders& orders) {
  const auto unserved = unserved_.find(orders.job());
  if (unserved != unserved_.end() &&
      environment_.loop.Now() < unserved->second.next_try) {
    return;
  }
  const auto served = jobs_.find(orders.job());
  if (served != jobs_.end() && served->second->uid() != orders.uid()) {
    runtime::Log(runtime::Severity::kWarning, "worker.job.replaced",
                 {{"job", orders.job()}});
    jobs_.erase(served);
  }
  if (!jobs_.contains(orders.job()) && !MayTakeUp(orders)) return;
  std::unique_ptr<ServedJob>& job = jobs_[orders.job()];
  if (job != nullptr && orders.restored().sequence() != job->restored()) {
    runtime::Log(runtime::Severity::kWarning, "worker.job.restored",
                 {{"job", orders.job()},
                  {"sequence", orders.restored().sequence()},
                  {"checkpoint", orders.restored().checkpoint()}});
    job.reset();
  }
  if (job == nullptr) {
    job = std::make_unique<ServedJob>(orders, environment_,
                                      [this] { StatusChanged(); });
    if (!StartJob(*job, orders.job())) {
      jobs_.erase(orders.job());
      return;
    }
    job->SetDraining(Leaves() || told_to_drain_);
  }
  const absl::Status status = job->OnOrders(revision, orders);
  if (!status.ok()) {
    runtime::Log(runtime::Severity::kWarning, "worker.orders.refused",
                 {{"job", orders.job()}, {"cause", status}});
  }
}

bool WorkerDaemon::StartJob(ServedJob& job, uint64_t id) {
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
  unserved.wait = unserved.reason.empty()
                      ? kServeAgainMin
                      : std::min(2 * unserved.wait, kServeAgainMax);
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

v1::Status WorkerDaemon::BuildStatus() const {
  v1::Status status;
  status.set_protocol_version(kProtocolVersion);
  status.set_release(kRelease);
  status.mutable_self()->set_worker(options_.name);
  status.mutable_self()->set_address(options_.address);
  status.mutable_self()->set_island_address(options_.island_address);
  status.set_island(options_.island);
  status.set_boot(boot_);
  status.set_incarnation(incarnation_.value());
  status.set_counter(counter_);
  status.set_draining(Leaves());
  if (notice_.has_value()) status.set_drain_reason(DrainReason(*notice_));
  status.set_folder(options_.folder.value());
  status.set_process(first_boot_);
  uint64_t seen = seen_.value();
  for (const auto& [id, job] : jobs_) {
    seen = std::max(seen, job->highest_number());
  }
  status.set_seen(seen);
  if (options_.look) {
    const runtime::MachineFacts machine = options_.look();
    status.mutable_machine()->set_unix_ms(machine.unix_ms);
    status.mutable_machine()->set_state_free_bytes(machine.state_free_bytes);
    status.mutable_machine()->set_state_bytes(machine.state_bytes);
    status.mutable_machine()->set_memory_bytes(machine.memory_bytes);
  }
  status.set_looks_at_data(true);
  data_.ToProto(&status);
  for (const auto& [id, job] : jobs_) {
    *status.add_jobs() = job->Status();
    if (!job->codecs_by_policy()) continue;
    v1::JobStatus& one = *status.mutable_jobs()->rbegin();
    for (const CodecSpeed& measured : codec_speeds_) {
      v1::CodecSpeed* speed = one.add_codec_speeds();
      speed->set_codec(std::string(compression::CodecName(measured.codec)));
      speed->set_encode_elements_per_s(measured.encode_elements_per_s);
      speed->set_decode_elements_per_s(measured.decode_elements_per_s);
    }
  }
  folders_.WriteStatus(&status);
  // They are being started, as far as the coordinator is concerned: the cause
  // may go away.
  for (const auto& [id, unserved] : unserved_) {
    v1::JobStatus* job = status.add_jobs();
    job->set_job(id);
    job->set_state(v1::SEAT_STATE_STARTING);
    job->set_error(absl::StrCat(unserved.reason, "; tried again by itself"));
  }
  return status;
}

void WorkerDaemon::SendStatus() {
  status_due_ = false;
  if (stopping_) return;
  ++counter_;
  session_.Send(BuildStatus());
}

std::vector<runtime::Metric> WorkerDaemon::Metrics() const {
  WorkerFacts facts{.status = BuildStatus(),
                    .job_names = {},
                    .connected = connected_,
                    .sessions_lost = sessions_lost_};
  for (const auto& [id, job] : jobs_) facts.job_names[id] = job->name();
  return MetricsOf(facts);
}

absl::Status WorkerDaemon::Ready() const {
  if (connected_) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("the coordinator does not answer: ", lost_.message()));
}

void WorkerDaemon::LearnCodecSpeeds() {
  environment_.compute.Run([this, &loop = environment_.loop,
                            alive = std::weak_ptr<char>(alive_)]() mutable {
    const runtime::Stopwatch watch;
    auto speeds =
        MeasureCodecs([&] { return watch.Seconds(); }, kMeasureCodecsMaxS);
    loop.Post(
        [this, speeds = std::move(speeds), alive = std::move(alive)]() mutable {
          if (alive.expired()) return;
          codec_speeds_ = std::move(speeds);
          StatusChanged();
        });
  });
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
