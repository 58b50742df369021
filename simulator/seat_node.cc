#include "simulator/seat_node.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/hash.h"
#include "base/job_folder_name.h"
#include "base/status.h"
#include "planner/codec_policy.h"
#include "protocol/convert/orders.h"
#include "protocol/job_facts.h"
#include "protocol/job_orders.h"
#include "simulator/quadratic_model.h"
#include "simulator/worker_node.h"
#include "simulator/world.h"
#include "worker/convert/peer.h"
#include "worker/daemon/store_file.h"

namespace skerry::sim {
namespace {

using worker::Done;
using worker::StoredFile;

constexpr size_t kAlignment = 64;
// So long do the trainers of an island wait for each other.
constexpr double kMeetingLeases = 2;
constexpr double kMessageBytes = 100;
// So long does a checkpoint take to be written or read, at most.
constexpr uint64_t kCheckpointUs = 200'000;

TrainerShape ShapeOf(const World& world, HostId host, JobId job,
                     const job::JobSpec& spec) {
  TrainerShape shape;
  shape.job = job;
  if (spec.model.program.has_value()) {
    shape.groups = false;
    if (world.setting.programs_begin_differently) shape.own_initial = host;
  }
  shape.compute = world.shape(host).compute;
  shape.meeting_max = kMeetingLeases * world.setting.options.lease;
  shape.pace = world.setting.pace;
  const auto average = world.setting.average_begins.find(spec.name);
  if (average != world.setting.average_begins.end()) {
    shape.average_begin = average->second;
  }
  const auto validation = world.setting.validation_samples.find(spec.name);
  if (validation != world.setting.validation_samples.end()) {
    shape.validation_samples = validation->second;
  }
  return shape;
}

std::unique_ptr<SimModel> ModelOf(const World& world, HostId host, JobId job,
                                  const std::string& name) {
  const std::string& island = world.shape(host).island;
  if (world.setting.make_model) {
    auto model = world.setting.make_model({job, name, island});
    if (model != nullptr) return model;
  }
  const auto elements = world.setting.elements.find(name);
  return std::make_unique<QuadraticModel>(
      elements == world.setting.elements.end() ? 0 : elements->second, job,
      island, world.setting.every_step);
}

}  // namespace

void SimExecutor::Run(runtime::Task task) {
  const Instant now = process_.Now();
  if (pace_.has_value()) {
    busy_until_ = std::max(busy_until_, now) + pace_->span_step;
    process_.RunAt(busy_until_, std::move(task));
    return;
  }
  process_.RunAt(now + absl::Microseconds(10 + random_.Below(1500)),
                 std::move(task));
}

SeatNode::SeatNode(World& world, WorkerNode& node,
                   const protocol::JobOrders& orders,
                   std::function<void()> status_changed)
    : world_(world),
      node_(node),
      job_(orders.job),
      uid_(orders.uid),
      spec_(orders.spec),
      start_(orders),
      folder_(absl::StrCat("jobs/", JobFolderName(job_.value(), uid_))),
      answers_(node.process(), [this] { AfterSeat(); }),
      executor_(node.process(), world.random, world.setting.pace),
      bulk_(job_, node.bulk(), node.directory(), answers_),
      host_(job_, executor_, answers_, status_changed),
      saver_(
          job_,
          [this](const std::string& worker, const worker::PieceKey& key,
                 Done<absl::StatusOr<SharedBytes>> done) {
            FetchPiece(worker, key, std::move(done));
          },
          [this](worker::StateToSave state,
                 worker::StateSaver::Written written) {
            Save(std::move(state), std::move(written));
          },
          status_changed),
      trainer_(ShapeOf(world, node.host(), job_, orders.spec),
               ModelOf(world, node.host(), job_, orders.spec.name),
               node.process(), world.random, answers_, world.islands,
               {[this](const worker::TrainerDescription& description) {
                  OnTrainerReady(description);
                },
                [this](const absl::Status& why) { OnTrainerFailed(why); },
                [this](bool begins, std::span<const float> live) {
                  world_.observer.OnLive(
                      {node_.host(), node_.run(), job_, begins, live});
                }}) {}

absl::Status SeatNode::Start() {
  worker::SeatOptions options;
  options.job = job_;
  options.worker = world_.NameOf(node_.host());
  options.on_disk = Scan();
  const bool from_checkpoint = start_.NeedsCheckpoint(options.on_disk);
  options.fragments = job::FragmentCount(spec_);
  options.disk_retry_interval = world_.setting.options.lease / 2;
  options.part_bytes = world_.setting.part_bytes;
  seat_ = std::make_unique<worker::Seat>(
      std::move(options),
      worker::Effects{trainer_, bulk_, *this, *this, host_});
  from_checkpoint ? ReadCheckpoint() : BeginTraining();
  return absl::OkStatus();
}

SeatNode::~SeatNode() { seat_.reset(); }

std::string SeatNode::PathOf(const StoredFile& file) const {
  return absl::StrCat(folder_, "/", worker::StoreFileName(file));
}

std::vector<StoredFile> SeatNode::Scan() {
  WorkerDisk& disk = *world_.machine(node_.host()).disk;
  disk.MakeFolder(folder_);
  std::vector<StoredFile> found;
  for (const std::string& name : disk.List(folder_)) {
    const std::string path = absl::StrCat(folder_, "/", name);
    const FileBytes bytes = disk.Find(path);
    auto header = worker::DecodeStoreHeader(*bytes);
    if (header.ok() && worker::StoreFileName(header->file) == name) {
      found.push_back(std::move(header->file));
    } else {
      disk.Remove(path);
    }
  }
  return found;
}

void SeatNode::After(absl::Duration wait, runtime::Task task) {
  Process& process = node_.process();
  process.RunAt(process.Now() + wait, [alive = std::weak_ptr<char>(alive_),
                                       task = std::move(task)]() mutable {
    if (!alive.expired()) std::move(task)();
  });
}

void SeatNode::FetchPiece(const std::string& worker,
                          const worker::PieceKey& key,
                          Done<absl::StatusOr<SharedBytes>> done) {
  absl::StatusOr<SharedBytes> own = seat_->OnFetch(key);
  if (!own.ok()) return bulk_.Fetch(worker, key, std::move(done));
  Process& process = node_.process();
  process.Post(
      [&process, own = *std::move(own), done = std::move(done)]() mutable {
        std::move(done)(process.Now(), std::move(own));
      });
}

// What is written stays, whether or not its writer lives to say so.
void SeatNode::Save(worker::StateToSave state,
                    worker::StateSaver::Written written) {
  const auto part = [this] {
    return absl::Microseconds(100 + world_.random.Below(kCheckpointUs));
  };
  After(part(), [this, rest = part(), state = std::move(state),
                 written = std::move(written)]() mutable {
    protocol::CheckpointFact outcome;
    if (world_.machine(node_.host()).disk->full) {
      outcome.sequence = state.order.sequence;
      outcome.error = "the folder is full";
    } else {
      outcome = world_.saved_states.Save(state);
    }
    After(rest, [outcome = std::move(outcome),
                 written = std::move(written)]() mutable {
      std::move(written)(std::move(outcome));
    });
  });
}

void SeatNode::ReadCheckpoint() {
  const auto took =
      absl::Microseconds(100 + world_.random.Below(kCheckpointUs));
  After(took, [this] {
    auto read = world_.saved_states.Read(job_, spec_, start_.restored());
    if (!read.ok()) {
      restore_error_ = std::string(read.status().message());
      BeginTraining();
      return;
    }
    StoreCheckpoint(
        std::make_shared<std::vector<SavedStates::Fragment>>(*std::move(read)),
        0);
  });
}

void SeatNode::StoreCheckpoint(
    std::shared_ptr<std::vector<SavedStates::Fragment>> base, size_t fragment) {
  if (fragment == base->size()) return BeginTraining();
  SavedStates::Fragment& one = (*base)[fragment];
  one.file.sequence = start_.at()[fragment];
  Store(one.file, one.contents,
        [this, base, fragment](Instant now, const absl::Status& status) {
          if (!status.ok()) {
            return After(world_.setting.options.lease / 2,
                         [this] { ReadCheckpoint(); });
          }
          seat_->OnImported(now, (*base)[fragment].file);
          StoreCheckpoint(base, fragment + 1);
        });
}

absl::Status SeatNode::OnOrders(Revision revision,
                                const protocol::JobOrders& orders) {
  const auto settings = worker::JobSettingsOf(orders);
  if (!settings.ok()) {
    world_.observer.OnBroken(
        absl::StrCat("worker ", node_.host(),
                     " refused orders: ", settings.status().ToString()));
    return settings.status();
  }
  world_.observer.OnOrdersHeard(node_.host(), node_.run(), orders);
  seat_->OnOrders(node_.process().Now(), revision, orders, *settings);
  saver_.OnOrders(orders, trainer_.elements());
  AfterSeat();
  return absl::OkStatus();
}

void SeatNode::OnBootChanged(const std::string& reason) {
  seat_->OnLifeLost(node_.process().Now(), reason);
  AfterSeat();
}

void SeatNode::SetDraining(bool draining) {
  const Instant now = node_.process().Now();
  draining ? seat_->Drain(now) : seat_->Serve(now);
  AfterSeat();
}

void SeatNode::KillTrainer() {
  trainer_.Die(absl::UnavailableError("it was killed"));
}

protocol::FrameVerdict SeatNode::OnFrame(const compression::FrameHeader& header,
                                         const SharedBytes& payload) {
  const protocol::FrameVerdict verdict =
      seat_->OnFrame(node_.process().Now(), header, payload);
  if (verdict == protocol::FrameVerdict::kAccepted) {
    world_.observer.OnFrameTaken(node_.host(), node_.run(), header);
  }
  AfterSeat();
  return verdict;
}

void SeatNode::OnAgreeCut(const worker::CutRequest& request,
                          worker::Seat::CutAnswer answer) {
  seat_->OnAgreeCut(node_.process().Now(), request, std::move(answer));
  AfterSeat();
}

bool SeatNode::codecs_by_policy() const {
  return planner::IsCodecPolicy(spec_.exchange.codec);
}

const protocol::JobFacts& SeatNode::facts() const {
  if (!facts_.has_value()) facts_ = seat_->Facts();
  return *facts_;
}

protocol::JobFacts SeatNode::Facts() const {
  world_.observer.OnFactsSaid({node_.host(), node_.run(), *seat_, facts()},
                              *world_.machine(node_.host()).disk, folder_);
  protocol::JobFacts said = facts();
  if (said.error.empty() && said.state == protocol::SeatState::kRecovering) {
    said.error = restore_error_;
  }
  said.checkpoint = saver_.outcome();
  said.links = bulk_.Links();
  said.uid = uid_;
  if (!fatal_.empty()) {
    said.state = protocol::SeatState::kFailed;
    said.error = fatal_;
  }
  return said;
}

void SeatNode::StartTrainer() {
  trainer_.Start();
  if (!world_.setting.watch.has_value()) return;
  watch_.emplace(
      *world_.setting.watch, node_.process().Now(),
      watch_.has_value() ? watch_->longest_step() : absl::ZeroDuration());
  watching_ = std::make_shared<char>();
  WatchTrainer();
}

void SeatNode::WatchTrainer() {
  const Instant now = node_.process().Now();
  if (const auto progress = trainer_.Progress()) {
    watch_->OnProgress(now, *progress);
  }
  const std::string why = watch_->Look(now);
  if (!why.empty()) {
    world_.history.Add(world_.timeline.now(), "host ", node_.host(), ": ", why);
    return trainer_.Die(absl::DeadlineExceededError(why));
  }
  if (!trainer_.running()) return;
  After(world_.setting.watch->interval,
        [this, watching = std::weak_ptr<char>(watching_)] {
          if (!watching.expired()) WatchTrainer();
        });
}

void SeatNode::OnTrainerReady(const worker::TrainerDescription& description) {
  ready_ = true;
  fatal_.clear();
  seat_->OnTrainerReady(node_.process().Now(), description);
  AfterSeat();
}

void SeatNode::OnTrainerFailed(const absl::Status& why) {
  const worker::TrainerFailures::Verdict verdict =
      failures_.OnFailure(why, seat_->Facts().counters.rounds, ready_);
  ready_ = false;
  if (verdict.unfit) fatal_ = verdict.reason;
  backing_off_ = true;
  seat_->OnTrainerFailed(node_.process().Now(), verdict.reason);
  AfterSeat();
  if (!verdict.restart_after.has_value()) return;
  After(*verdict.restart_after, [this] {
    backing_off_ = false;
    ConsiderTrainer();
  });
}

void SeatNode::BeginTraining() {
  can_train_ = true;
  ConsiderTrainer();
}

void SeatNode::ConsiderTrainer() {
  if (!can_train_ || backing_off_) return;
  if (seat_->WantsTrainer()) {
    if (!trainer_.is_there()) StartTrainer();
  } else if (trainer_.is_there()) {
    trainer_.End();
    watching_.reset();
    ready_ = false;
    seat_->OnTrainerEnded(node_.process().Now());
  }
}

void SeatNode::AfterSeat() {
  ConsiderTrainer();
  touched_ = true;
  facts_.reset();
  const std::optional<Instant> next = seat_->NextDeadline();
  if (!next.has_value()) return;
  if (armed_.has_value() && *armed_ <= *next) return;
  armed_ = next;
  node_.process().RunAt(
      *next, [this, when = *next, alive = std::weak_ptr<char>(alive_)] {
        if (alive.expired() || armed_ != when) return;
        armed_.reset();
        seat_->OnTime(node_.process().Now());
        AfterSeat();
      });
}

void SeatNode::Store(const StoredFile& file, std::vector<SharedBytes> contents,
                     Done<absl::Status> done) {
  std::vector<std::byte> bytes = worker::EncodeStoreHeader(file, contents);
  for (const SharedBytes& content : contents) {
    bytes.insert(bytes.end(), content.bytes().begin(), content.bytes().end());
    const size_t over = content.size() % kAlignment;
    if (over != 0) bytes.resize(bytes.size() + kAlignment - over);
  }
  WriteFile(PathOf(file),
            std::make_shared<const std::vector<std::byte>>(std::move(bytes)),
            answers_.Wrap(std::move(done)));
}

void SeatNode::WriteFile(const std::string& path, FileBytes bytes,
                         WorkerDisk::Done done) {
  world_.machine(node_.host())
      .disk->Write(
          path, bytes,
          [this, &process = node_.process(), path, bytes,
           alive = std::weak_ptr<char>(alive_),
           done = std::move(done)](absl::Status status) mutable {
            process.Post([this, path, bytes, alive, done = std::move(done),
                          status = std::move(status)]() mutable {
              if (absl::IsNotFound(status) && !alive.expired()) {
                world_.machine(node_.host()).disk->MakeFolder(folder_);
                seat_->OnFolderGone(node_.process().Now());
                return WriteFile(path, std::move(bytes), std::move(done));
              }
              std::move(done)(std::move(status));
            });
          });
}

absl::StatusOr<SharedBytes> SeatNode::Map(const StoredFile& file,
                                          uint32_t span) {
  const FileBytes bytes = world_.machine(node_.host()).disk->Find(PathOf(file));
  if (bytes == nullptr) return absl::NotFoundError(PathOf(file));
  SKERRY_ASSIGN_OR_RETURN(const worker::StoreHeader header,
                          worker::DecodeStoreHeader(*bytes));
  for (size_t i = 0; i < header.file.pieces.size(); ++i) {
    if (header.file.pieces[i].span != span) continue;
    const worker::PieceExtent extent = header.extents[i];
    return SharedBytes{bytes,
                       std::span(*bytes).subspan(extent.offset, extent.size)};
  }
  return absl::NotFoundError(PathOf(file));
}

void SeatNode::Delete(const StoredFile& file) {
  world_.machine(node_.host()).disk->Remove(PathOf(file));
}

void SeatNode::AgreeCut(const std::string& head,
                        const worker::CutRequest& request,
                        Done<absl::StatusOr<worker::CutReply>> done) {
  using Reply = absl::StatusOr<worker::CutReply>;
  auto waiting = std::make_shared<Done<Reply>>(std::move(done));
  const auto end = [this, waiting,
                    alive = std::weak_ptr<char>(alive_)](const Reply& reply) {
    if (alive.expired()) return;
    node_.process().Post([this, waiting, reply, alive] {
      if (alive.expired() || *waiting == nullptr) return;
      answers_.Wrap(std::exchange(*waiting, nullptr))(reply);
    });
  };
  v1::AgreeCutRequest message;
  worker::CutRequestToProto(job_, request, &message);
  const Endpoint to = EndpointOf(node_.directory().EndpointOf(head));
  const auto stream = world_.network.Connect(
      {node_.host(), [end](const absl::Status& why) { end(why); }},
      {to.host, nullptr});
  world_.Keep(stream);
  stream->Send(
      0, world_.setting.scale.Fixed(kMessageBytes),
      [&world = world_, message, to, end, stream,
       name = world_.NameOf(node_.host())] {
        const auto back = [end, stream,
                           bytes = world.setting.scale.Fixed(kMessageBytes)](
                              const Reply& reply) {
          stream->Send(1, bytes, [end, reply, stream] {
            stream->Close(0, absl::OkStatus());
            end(reply);
          });
        };
        WorkerNode* head = world.NodeAt(to);
        if (head == nullptr) {
          stream->Close(1, absl::UnavailableError("no head"));
          return;
        }
        head->process().Post([head, message, back, name] {
          const auto checked = worker::CutRequestFromProto(message);
          if (!checked.ok()) return back(checked.status());
          head->shell().OnAgreeCut(JobId(message.job()), *checked, name,
                                   [back](const Reply& reply) {
                                     if (!reply.ok())
                                       return back(reply.status());
                                     v1::AgreeCutReply out;
                                     worker::CutReplyToProto(*reply, &out);
                                     back(worker::CutReplyFromProto(out));
                                   });
        });
      });
}

}  // namespace skerry::sim
