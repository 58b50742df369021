#include "simulator/seat_node.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/job_folder_name.h"
#include "simulator/job_ports.h"
#include "simulator/quadratic_model.h"
#include "simulator/worker_node.h"
#include "simulator/world.h"

namespace skerry::sim {
namespace {

// So long do the trainers of an island wait for each other.
constexpr double kMeetingLeases = 2;

// Looks at trainers that are not watched come so rarely, and blame nobody.
worker::TrainerWatchOptions Unwatched() {
  return {.least = absl::InfiniteDuration(),
          .unknown = absl::InfiniteDuration(),
          .copy = absl::InfiniteDuration(),
          .interval = absl::Hours(1)};
}

// A disk is tried again, and a checkpoint read again, as much sooner than on
// real machines as leases are shorter.
worker::JobTimes TimesOf(const Setting& setting) {
  const absl::Duration half = setting.options.lease / 2;
  return {.ended_idle = setting.ended_idle,
          .unreadable_again = half,
          .unstored_again = half,
          .disk_retry = half,
          .watch = setting.watch.value_or(Unwatched())};
}

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
      folder_(
          absl::StrCat("jobs/", JobFolderName(orders.job.value(), orders.uid))),
      executor_(node.process(), world.random, world.setting.pace),
      job_(orders, MachineOf(), std::move(status_changed)) {}

worker::JobMachine SeatNode::MachineOf() {
  return {.loop = node_.process(),
          .compute = executor_,
          .bulk = node_.bulk(),
          .directory = node_.directory(),
          .worker = world_.NameOf(node_.host()),
          .times = TimesOf(world_.setting),
          .make_ports =
              [this](const protocol::JobOrders& orders,
                     const worker::SeatAnswers& answers,
                     worker::JobListener& listener) {
                return MakePorts(orders, answers, listener);
              },
          .after_sleep = [this] { trainer_ = nullptr; },
          .after_seat =
              [this] {
                touched_ = true;
                facts_.reset();
              },
          .part_bytes = world_.setting.part_bytes};
}

worker::JobPorts SeatNode::MakePorts(const protocol::JobOrders& orders,
                                     const worker::SeatAnswers& answers,
                                     worker::JobListener& listener) {
  auto trainer = std::make_unique<SimTrainer>(
      ShapeOf(world_, node_.host(), orders.job, orders.spec),
      ModelOf(world_, node_.host(), orders.job, orders.spec.name),
      node_.process(), world_.random, answers, world_.islands, listener,
      [this, job = orders.job](bool begins, std::span<const float> live) {
        world_.observer.OnLive({node_.host(), node_.run(), job, begins, live});
      });
  trainer_ = trainer.get();
  worker::JobPorts ports;
  ports.folder =
      std::make_unique<SimFolder>(world_, node_, folder_, answers, listener);
  ports.inner = std::make_unique<SimInner>(node_.process());
  ports.data = std::make_unique<SimData>();
  ports.checkpoints = std::make_unique<SimCheckpoints>(world_, node_, orders);
  ports.peers = std::make_unique<SimPeers>(world_, node_, orders.job, answers);
  ports.trainer = std::move(trainer);
  return ports;
}

absl::Status SeatNode::OnOrders(Revision revision,
                                const protocol::JobOrders& orders) {
  world_.observer.OnOrdersHeard(node_.host(), node_.run(), orders);
  return job_.OnOrders(revision, orders);
}

void SeatNode::KillTrainer() {
  if (trainer_ != nullptr) {
    trainer_->Fail(absl::UnavailableError("it was killed"));
  }
}

void SeatNode::HangTrainer(Hang how) {
  if (trainer_ != nullptr) trainer_->Stand(how);
}

protocol::FrameVerdict SeatNode::OnFrame(const compression::FrameHeader& header,
                                         const SharedBytes& payload) {
  const protocol::FrameVerdict verdict = job_.OnFrame(header, payload);
  if (verdict == protocol::FrameVerdict::kAccepted) {
    world_.observer.OnFrameTaken(node_.host(), node_.run(), header);
  }
  return verdict;
}

protocol::JobFacts SeatNode::Facts() const {
  protocol::JobFacts said = job_.Facts();
  world_.observer.OnFactsSaid({node_.host(), node_.run(), said},
                              *world_.machine(node_.host()).disk, folder_);
  return said;
}

void SeatNode::Look() {
  if (!std::exchange(touched_, false) || !world_.setting.watched) return;
  if (job_.shell() == nullptr) return;
  if (!facts_.has_value()) facts_ = job_.shell()->seat().Facts();
  world_.observer.OnSeat(
      {node_.host(), node_.run(), job_.shell()->seat(), *facts_});
}

}  // namespace skerry::sim
