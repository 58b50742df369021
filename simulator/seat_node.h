// simulator/seat_node.h
//
// One job on one run of a worker's process: the real seat, its trainer, its
// folder on the disk, the port to the head of its replica, and what saves and
// reads checkpoints.
#ifndef SKERRY_SIMULATOR_SEAT_NODE_H_
#define SKERRY_SIMULATOR_SEAT_NODE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "job/job_spec.h"
#include "protocol/job_facts.h"
#include "protocol/job_orders.h"
#include "runtime/executor.h"
#include "simulator/saved_states.h"
#include "simulator/setting.h"
#include "simulator/trainer.h"
#include "simulator/worker_disk.h"
#include "worker/core/seat.h"
#include "worker/core/trainer_failures.h"
#include "worker/daemon/bulk_port.h"
#include "worker/daemon/host_port.h"
#include "worker/daemon/job_start.h"
#include "worker/daemon/seat_answers.h"
#include "worker/daemon/state_saver.h"
#include "worker/shell/job.h"

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

class SeatNode final : public worker::Job, worker::DiskPort, worker::PeerPort {
 public:
  // `world` and `node` outlive it. `orders` are the first that name the job.
  SeatNode(World& world, WorkerNode& node, const protocol::JobOrders& orders,
           std::function<void()> status_changed);
  ~SeatNode() override;

  absl::Status Start() override;
  absl::Status OnOrders(Revision revision,
                        const protocol::JobOrders& orders) override;
  void OnBootChanged(const std::string& reason) override;
  void SetDraining(bool draining) override;
  void KillTrainer();
  void HangTrainer(Hang how) { trainer_.Stand(how); }
  protocol::FrameVerdict OnFrame(const compression::FrameHeader& header,
                                 const SharedBytes& payload) override;
  absl::StatusOr<SharedBytes> OnFetch(const protocol::PieceKey& key) override {
    return seat_->OnFetch(key);
  }
  // Simulated jobs read no data sets, and simulated trainers meet without their
  // workers.
  void OnDataFetch(const protocol::PieceKey&,
                   transport::BulkReceiver::FetchAnswer answer) override {
    std::move(answer)(absl::NotFoundError("no data set is given from here"));
  }
  void OnAgreeCut(const worker::CutRequest& request,
                  worker::Seat::CutAnswer answer) override;
  void OnMeet(const worker::MeetRequest&,
              worker::GroupMeeting::Answer answer) override {
    std::move(answer)(absl::NotFoundError("no trainers meet here"));
  }
  bool IsBeingRead() const override { return false; }
  // What the worker says of the job; observers hear of it.
  protocol::JobFacts Facts() const override;
  uint64_t uid() const override { return uid_; }
  const std::string& name() const override { return spec_.name; }
  uint64_t highest_number() const override {
    return seat_->HighestAttempt().value();
  }
  bool codecs_by_policy() const override;

  worker::Seat& seat() { return *seat_; }
  Sequence restored() const override { return start_.restored().sequence; }
  // Returns whether the seat may have changed since the last call.
  bool TakeTouched() { return std::exchange(touched_, false); }
  // Returns the facts of the seat's present state.
  const protocol::JobFacts& facts() const;

 private:
  std::vector<worker::StoredFile> Scan();
  void Save(worker::StateToSave state, worker::StateSaver::Written written);
  void FetchPiece(const std::string& worker, const worker::PieceKey& key,
                  worker::Done<absl::StatusOr<SharedBytes>> done);
  void ReadCheckpoint();
  // The files of fragments from this one on, then the trainer starts.
  void StoreCheckpoint(std::shared_ptr<std::vector<SavedStates::Fragment>> base,
                       size_t fragment);
  void After(absl::Duration wait, runtime::Task task);
  void StartTrainer();
  // Asks the trainer how far it is, and kills it when it does not go on.
  void WatchTrainer();
  void OnTrainerReady(const worker::TrainerDescription& description);
  void OnTrainerFailed(const absl::Status& why);
  void BeginTraining();
  // Starts a trainer, or ends the one there is, as the seat wants it.
  void ConsiderTrainer();
  void AfterSeat();
  std::string PathOf(const worker::StoredFile& file) const;
  // Makes the folder again where somebody has removed it.
  void WriteFile(const std::string& path, FileBytes bytes,
                 WorkerDisk::Done done);

  // worker::DiskPort.
  void Store(const worker::StoredFile& file, std::vector<SharedBytes> contents,
             worker::Done<absl::Status> done) override;
  absl::StatusOr<SharedBytes> Map(const worker::StoredFile& file,
                                  uint32_t span) override;
  void Delete(const worker::StoredFile& file) override;
  // worker::PeerPort.
  void AgreeCut(const std::string& head, const worker::CutRequest& request,
                worker::Done<absl::StatusOr<worker::CutReply>> done) override;

  World& world_;
  WorkerNode& node_;
  const JobId job_;
  const uint64_t uid_;
  const job::JobSpec spec_;
  const worker::JobStart start_;
  const std::string folder_;
  worker::SeatAnswers answers_;
  SimExecutor executor_;
  worker::JobBulkPort bulk_;
  worker::JobHostPort host_;
  worker::StateSaver saver_;
  SimTrainer trainer_;
  worker::TrainerFailures failures_;
  std::optional<worker::TrainerWatch> watch_;
  // Looks that were planned for a former trainer see it expired.
  std::shared_ptr<char> watching_;
  // What the job begins with is there.
  bool can_train_ = false;
  // The last trainer has failed, and the next one is not due yet or never is.
  bool backing_off_ = false;
  std::unique_ptr<worker::Seat> seat_;
  // Why the checkpoint that the job went back to was not read here.
  std::string restore_error_;
  bool ready_ = false;  // the trainer that there is
  // Why this worker takes no part in the job; empty while it does.
  std::string fatal_;
  std::optional<Instant> armed_;
  bool touched_ = true;
  // The facts, unless nobody has asked for them since the seat last changed.
  mutable std::optional<protocol::JobFacts> facts_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace skerry::sim

#endif  // SKERRY_SIMULATOR_SEAT_NODE_H_
