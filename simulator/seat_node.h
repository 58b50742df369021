// simulator/seat_node.h
//
// One job on one run of a worker's process: the real shell of a job, awake or
// asleep, over ports to the simulated machine.
#ifndef SKERRY_SIMULATOR_SEAT_NODE_H_
#define SKERRY_SIMULATOR_SEAT_NODE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "protocol/job_facts.h"
#include "protocol/job_orders.h"
#include "runtime/executor.h"
#include "simulator/setting.h"
#include "simulator/trainer.h"
#include "worker/shell/job.h"
#include "worker/shell/job_machine.h"
#include "worker/shell/served_job.h"

namespace skerry::sim {

class World;
class WorkerNode;

// Runs work some time later: in any order, or one after the other where the
// pace says how long each takes.
class SimExecutor final : public runtime::Executor {
 public:
  SimExecutor(Process& process, Random& random, const Pace& pace)
      : process_(process), random_(random), pace_(pace.host) {}
  void Run(runtime::Task task) override;

 private:
  Process& process_;
  Random& random_;
  const std::optional<Pace::Host> pace_;
  Instant busy_until_;
};

// Observers of the world see what is told to the job, and what it says.
class SeatNode final : public worker::Job {
 public:
  // `world` and `node` outlive it. `orders` are the first that name the job.
  SeatNode(World& world, WorkerNode& node, const protocol::JobOrders& orders,
           std::function<void()> status_changed);

  absl::Status Start() override { return job_.Start(); }
  absl::Status OnOrders(Revision revision,
                        const protocol::JobOrders& orders) override;
  void OnBootChanged(const std::string& reason) override {
    job_.OnBootChanged(reason);
  }
  void SetDraining(bool draining) override { job_.SetDraining(draining); }
  protocol::FrameVerdict OnFrame(const compression::FrameHeader& header,
                                 const SharedBytes& payload) override;
  absl::StatusOr<SharedBytes> OnFetch(const protocol::PieceKey& key) override {
    return job_.OnFetch(key);
  }
  void OnDataFetch(const protocol::PieceKey& key,
                   transport::BulkReceiver::FetchAnswer answer) override {
    job_.OnDataFetch(key, std::move(answer));
  }
  void OnAgreeCut(const worker::CutRequest& request,
                  worker::Seat::CutAnswer answer) override {
    job_.OnAgreeCut(request, std::move(answer));
  }
  void OnMeet(const worker::MeetRequest& request,
              worker::GroupMeeting::Answer answer) override {
    job_.OnMeet(request, std::move(answer));
  }
  bool IsBeingRead() const override { return job_.IsBeingRead(); }
  // The worker says these facts.
  protocol::JobFacts Facts() const override;
  uint64_t uid() const override { return job_.uid(); }
  const std::string& name() const override { return job_.name(); }
  uint64_t highest_number() const override { return job_.highest_number(); }
  bool codecs_by_policy() const override { return job_.codecs_by_policy(); }
  Sequence restored() const override { return job_.restored(); }

  // The trainer dies or hangs, if there is one.
  void KillTrainer();
  void HangTrainer(Hang how);
  // Shows observers the seat if it may have changed since the last call.
  void Look();
  // The job without an observer.
  const worker::ServedJob& job() const { return job_; }

 private:
  worker::JobMachine MachineOf();
  worker::JobPorts MakePorts(const protocol::JobOrders& orders,
                             const worker::SeatAnswers& answers,
                             worker::JobListener& listener);

  World& world_;
  WorkerNode& node_;
  const std::string folder_;
  SimExecutor executor_;
  // The trainer of the job's shell; null while the job sleeps.
  SimTrainer* trainer_ = nullptr;
  bool touched_ = false;
  // The facts, unless nobody has looked since the seat last changed.
  std::optional<protocol::JobFacts> facts_;
  worker::ServedJob job_;
};

}  // namespace skerry::sim

#endif  // SKERRY_SIMULATOR_SEAT_NODE_H_
