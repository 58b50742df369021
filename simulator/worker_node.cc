#include "simulator/worker_node.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/check.h"
#include "base/release.h"
#include "base/status.h"
#include "protocol/convert/orders.h"
#include "protocol/convert/status.h"
#include "simulator/coordinator_node.h"
#include "simulator/seat_node.h"
#include "simulator/world.h"

namespace skerry::sim {
namespace {

constexpr HostId kCoordinator = 0;
constexpr double kStatusShareOfLease = 0.3;
constexpr absl::Duration kBackoffMin = absl::Milliseconds(50);
constexpr absl::Duration kBackoffMax = absl::Seconds(1);
constexpr absl::Duration kWriting = absl::Microseconds(100);

// By the simulation's clock: the wall clock of a worker.
int64_t UnixMs(Instant now) {
  return 1 + absl::ToInt64Milliseconds(now.since_start());
}

// What the disk has when a process starts.
std::vector<protocol::StoredJob> FoldersOn(const WorkerDisk& disk) {
  std::map<protocol::StoredJobKey, uint64_t> bytes;
  for (const std::string& path : disk.Paths()) {
    // jobs/JOB-UID/FILE
    const std::vector<std::string> parts =
        absl::StrSplit(path, absl::ByAnyChar("/-"));
    uint64_t job = 0;
    uint64_t uid = 0;
    if (parts.size() < 4 || !absl::SimpleAtoi(parts[1], &job) ||
        !absl::SimpleAtoi(parts[2], &uid)) {
      continue;
    }
    bytes[{JobId(job), uid}] += disk.Find(path)->size();
  }
  std::vector<protocol::StoredJob> folders;
  for (const auto& [folder, size] : bytes) folders.push_back({folder, size, 0});
  return folders;
}

// Returns the id of the state folder on the host's disk. It changes each time
// the disk is lost.
uint64_t FolderOf(World& world, HostId host) {
  return (uint64_t{host} << 32) + world.machine(host).disk->losses() + 1;
}

}  // namespace

std::string PlainNameOf(HostId host) { return absl::StrCat("w", host); }

std::string EndpointText(const Endpoint& endpoint) {
  return absl::StrCat("host", endpoint.host, ":", endpoint.run);
}

Endpoint EndpointOf(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, ':');
  Endpoint endpoint;
  SKERRY_CHECK(parts.size() == 2 && parts[0].starts_with("host") &&
               absl::SimpleAtoi(parts[0].substr(4), &endpoint.host) &&
               absl::SimpleAtoi(parts[1], &endpoint.run));
  return endpoint;
}

WorkerNode::WorkerNode(World& world, HostId host, uint64_t run)
    : world_(world),
      host_(host),
      run_(run),
      process_(world.timeline, world.random, world.machine(host).clock,
               [this] { AfterTask(); }),
      bulk_(world, process_, host, directory_, *this),
      boot_(world.random() | 1),
      first_boot_(boot_),
      folders_(worker::EndedRetention()),
      access_(world.NameOf(host)),
      backoff_(kBackoffMin) {
  folders_.OnListed(FoldersOn(*world.machine(host).disk));
  process_.Post([this] { KeepSendingStatus(); });
}

WorkerNode::~WorkerNode() { jobs_.clear(); }

void WorkerNode::EachSeat(const std::function<void(SeatNode&)>& look) const {
  for (const auto& [id, job] : jobs_) look(*job);
}

void WorkerNode::AfterTask() {
  for (const auto& [id, job] : jobs_) job->Look();
}

void WorkerNode::Drain() {
  draining_ = true;
  SetJobsDraining();
  SendStatus();
}

void WorkerNode::SetJobsDraining() {
  for (const auto& [id, job] : jobs_) {
    job->SetDraining(draining_ || told_to_drain_);
  }
}

void WorkerNode::KillTrainers() {
  for (const auto& [id, job] : jobs_) job->KillTrainer();
}

void WorkerNode::HangTrainers(Hang how) {
  for (const auto& [id, job] : jobs_) job->HangTrainer(how);
}

protocol::FrameVerdict WorkerNode::OnFrame(
    const std::string& from, const compression::FrameHeader& header,
    const SharedBytes& payload) {
  if (!access_.MaySend(from, header, process_.Now())) {
    return protocol::FrameVerdict::kRefused;
  }
  const auto job = jobs_.find(header.job);
  if (job == jobs_.end()) return protocol::FrameVerdict::kNotYet;
  return job->second->OnFrame(header, payload);
}

absl::StatusOr<SharedBytes> WorkerNode::OnFetch(
    const transport::Fetcher& fetcher, const protocol::PieceKey& key) {
  SKERRY_RETURN_IF_ERROR(access_.CheckFetch(fetcher, key.job, process_.Now()));
  const auto job = jobs_.find(key.job.value());
  if (job == jobs_.end()) return absl::NotFoundError("not this job");
  return job->second->OnFetch(key);
}

void WorkerNode::OnAgreeCut(
    JobId id, const worker::CutRequest& request, const std::string& worker,
    std::function<void(absl::StatusOr<worker::CutReply>)> answer) {
  const absl::Status may =
      access_.CheckCut(worker, id, request, process_.Now());
  if (!may.ok()) return answer(may);
  const auto job = jobs_.find(id.value());
  if (job == jobs_.end()) {
    answer(absl::UnavailableError("not this job"));
    return;
  }
  job->second->OnAgreeCut(request, std::move(answer));
}

void WorkerNode::OnOrders(uint64_t session, const OrdersMessage& message) {
  if (session_ == nullptr || session_->id != session) return;
  const protocol::HeardOrders heard = protocol::OrdersFromProto(*message);
  const protocol::Orders& orders = heard.orders;
  if (orders.boot != Boot(boot_)) return;
  backoff_ = kBackoffMin;
  if (orders.revision < revision_) return;
  revision_ = orders.revision;
  seen_ = std::max(seen_, revision_);
  incarnation_ = orders.incarnation;
  if (orders.lease > absl::ZeroDuration()) {
    status_interval_ = kStatusShareOfLease * orders.lease;
  }
  if (std::exchange(told_to_drain_, orders.drain) != orders.drain) {
    SetJobsDraining();
  }
  directory_.Learn(orders.directory);
  std::set<uint64_t> named;
  for (const protocol::JobOrders& job : orders.jobs) {
    named.insert(job.job.value());
    access_.Learn(job);
    OnJobOrders(revision_, job);
  }
  for (const protocol::HeardOrders::Refused& job : heard.refused) {
    world_.observer.OnBroken(absl::StrCat(
        "worker ", host_, " refused orders: ", job.why.ToString()));
  }
  std::erase_if(jobs_,
                [&](const auto& job) { return !named.contains(job.first); });
  access_.KeepOnly(named);
  KeepFolders(orders);
  if (orders.released && draining_) world_.Exit(host_, "it is released");
}

void WorkerNode::KeepFolders(const protocol::Orders& orders) {
  const int64_t now = UnixMs(process_.Now());
  folders_.OnOrders(worker::FoldersIn(orders), now);
  WorkerDisk& disk = *world_.machine(host_).disk;
  for (const protocol::StoredJobKey& folder : folders_.TakeRemovable(now)) {
    world_.observer.OnFolderRemoved(host_, folder.job, folder.uid);
    const auto job = jobs_.find(folder.job.value());
    const std::string path = SeatNode::FolderOf(folder.job, folder.uid);
    if (job != jobs_.end() && job->second->folder() == path) jobs_.erase(job);
    for (const std::string& name : disk.List(path)) {
      disk.Remove(absl::StrCat(path, "/", name));
    }
    folders_.OnRemoved(folder, true);
  }
}

void WorkerNode::OnJobOrders(Revision revision,
                             const protocol::JobOrders& orders) {
  const protocol::StoredJobKey folder{orders.job, orders.uid};
  if (!jobs_.contains(orders.job.value())) {
    if (!folders_.MayOpen(folder, IsOver(orders.phase))) return;
    folders_.OnOpened(folder);
  }
  std::unique_ptr<SeatNode>& job = jobs_[orders.job.value()];
  if (job != nullptr && job->uid() != orders.uid) job.reset();
  if (job != nullptr && RestoredAt(orders) != job->restored()) {
    job.reset();
  }
  if (job == nullptr) {
    job = std::make_unique<SeatNode>(world_, *this, orders,
                                     [this] { StatusChanged(); });
    if (const absl::Status started = job->Start(); !started.ok()) {
      world_.observer.OnBroken(started.ToString());
    }
    job->SetDraining(draining_ || told_to_drain_);
  }
  const absl::Status status = job->OnOrders(revision, orders);
  if (!status.ok()) {
    world_.observer.OnBroken(
        absl::StrCat("worker ", host_, " refused orders: ", status.ToString()));
  }
}

void WorkerNode::TakeNewBoot(const std::string& reason) {
  boot_ = world_.random() | 1;
  incarnation_ = Incarnation();
  revision_ = Revision();
  for (const auto& [id, job] : jobs_) job->OnBootChanged(reason);
}

void WorkerNode::StatusChanged() {
  if (std::exchange(status_due_, true)) return;
  process_.Post([this] { SendStatus(); });
}

void WorkerNode::SendStatus() {
  status_due_ = false;
  protocol::StatusFacts facts;
  facts.release = kRelease;
  const std::string endpoint = EndpointText({host_, run_});
  facts.self = {world_.NameOf(host_), endpoint, endpoint};
  facts.island = world_.shape(host_).island;
  facts.boot = Boot(boot_);
  facts.incarnation = incarnation_;
  facts.counter = ++counter_;
  facts.draining = draining_;
  facts.programs = world_.setting.programs;
  facts.folder = FolderId(FolderOf(world_, host_));
  facts.process = Boot(first_boot_);
  facts.seen = seen_;
  for (const auto& [id, job] : jobs_) {
    facts.seen = std::max(facts.seen, Revision(job->highest_number()));
  }
  for (const auto& [id, job] : jobs_) facts.jobs.push_back(job->Facts());
  facts.stored.all = folders_.Report();
  const std::shared_ptr<v1::Status> message = world_.status_pool.Take();
  StatusToProto(facts, message.get());
  newest_ = message;
  if (session_ == nullptr && !waiting_) Open();
  Flush();
}

void WorkerNode::KeepSendingStatus() {
  SendStatus();
  process_.RunAt(process_.Now() + status_interval_,
                 [this] { KeepSendingStatus(); });
}

void WorkerNode::Open() {
  writing_ = false;
  session_ = std::make_shared<Session>();
  session_->id = world_.NextNumber();
  session_->worker = host_;
  session_->on_orders = [this, alive = process_.alive(),
                         id = session_->id](const OrdersMessage& orders) {
    if (alive.expired()) return;
    process_.Post([this, id, orders] { OnOrders(id, orders); });
  };
  session_->stream = world_.network.Connect(
      {host_,
       [this, alive = process_.alive(), id = session_->id](absl::Status why) {
         if (alive.expired()) return;
         process_.Post([this, id, why] {
           if (session_ != nullptr && session_->id == id) OnSessionEnd(why);
         });
       }},
      {kCoordinator, [&world = world_, id = session_->id](absl::Status) {
         if (world.coordinator_node() != nullptr)
           world.coordinator_node()->OnClosed(id);
       }});
}

void WorkerNode::Flush() {
  if (session_ == nullptr || writing_ || newest_ == nullptr) return;
  writing_ = true;
  const StatusMessage status = std::exchange(newest_, nullptr);
  const size_t bytes = status->ByteSizeLong();
  world_.history.Add(world_.timeline.now(), "status ", host_, " ", counter_,
                     " ", bytes);
  if (world_.network.link(host_, kCoordinator).cuts > 0) {
    session_->stream->Break(absl::UnavailableError("the connection broke"));
    return;
  }
  world_.network.Send(
      host_, kCoordinator, bytes,
      [&world = world_, session = session_, status] {
        if (world.coordinator_node() == nullptr) {
          session->stream->Close(
              Session::kCoordinatorEnd,
              absl::UnavailableError("no coordinator is there"));
          return;
        }
        world.coordinator_node()->OnStatus(session, status);
      });
  process_.RunAt(process_.Now() + kWriting, [this, id = session_->id] {
    if (session_ == nullptr || session_->id != id) return;
    writing_ = false;
    Flush();
  });
}

void WorkerNode::OnSessionEnd(const absl::Status& why) {
  session_ = nullptr;
  folders_.OnSessionEnd();
  writing_ = false;
  waiting_ = true;
  const absl::Duration wait = backoff_ * (0.5 + 0.5 * world_.random.Uniform());
  backoff_ = std::min(2 * backoff_, kBackoffMax);
  process_.RunAt(process_.Now() + wait, [this] {
    waiting_ = false;
    if (session_ != nullptr) return;
    Open();
    Flush();
  });
  if (absl::IsAlreadyExists(why)) {
    return world_.Exit(host_, std::string(why.message()));
  }
  if (absl::IsAborted(why)) TakeNewBoot(std::string(why.message()));
  SendStatus();
}

}  // namespace skerry::sim
