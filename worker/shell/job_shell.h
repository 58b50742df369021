// worker/shell/job_shell.h
//
// Runs one job on this worker: its seat, and the trainer, disk and links that
// the seat asks for. It decides when a trainer is started, dropped and started
// again, when a checkpoint is read, stored and saved, and what the worker says
// of the job. What needs a machine goes through ports (job_ports.h).
// job_shell_trainer.cc has what it does with trainers, and
// job_shell_checkpoints.cc what it does with checkpoints.
#ifndef SKERRY_WORKER_SHELL_JOB_SHELL_H_
#define SKERRY_WORKER_SHELL_JOB_SHELL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "base/ids.h"
#include "checkpoint/model_files.h"
#include "checkpoint/tensor_table.h"
#include "job/job_spec.h"
#include "protocol/job_facts.h"
#include "protocol/job_orders.h"
#include "worker/core/seat.h"
#include "worker/core/trainer_failures.h"
#include "worker/daemon/bulk_port.h"
#include "worker/daemon/host_port.h"
#include "worker/daemon/job_progress.h"
#include "worker/daemon/job_start.h"
#include "worker/daemon/seat_answers.h"
#include "worker/daemon/state_saver.h"
#include "worker/shell/job_machine.h"
#include "worker/shell/job_ports.h"
#include "worker/shell/trainer_watcher.h"

namespace skerry::worker {

// Members are called on the loop, and so is the handler.
class JobShell final : JobListener {
 public:
  // `orders` are the first that name the job. `status_changed` is called when
  // Facts() says something new. What `machine` refers to outlives the object.
  JobShell(const protocol::JobOrders& orders, const JobMachine& machine,
           absl::AnyInvocable<void()> status_changed);
  ~JobShell() override;
  JobShell(const JobShell&) = delete;
  JobShell& operator=(const JobShell&) = delete;

  // Lists what the disk holds, makes base 0 of the checkpoint that the job
  // starts from unless there is a base, brings the inner state of a checkpoint
  // here unless there is one, and starts the trainer. Errors: those
  // of the disk; the job cannot be served then.
  absl::Status Start();

  // Errors: InvalidArgument, the orders make no sense; they are not followed.
  absl::Status OnOrders(Revision revision, const protocol::JobOrders& orders);
  // The worker takes a new boot; `reason` says why.
  void OnBootChanged(const std::string& reason);
  void SetDraining(bool draining);

  FrameVerdict OnFrame(const compression::FrameHeader& header,
                       const SharedBytes& payload);
  absl::StatusOr<SharedBytes> OnFetch(const PieceKey& key);
  void OnDataFetch(const PieceKey& key,
                   transport::BulkReceiver::FetchAnswer answer);
  void OnAgreeCut(const CutRequest& request, Seat::CutAnswer answer);
  void OnMeet(const MeetRequest& request, GroupMeeting::Answer answer);

  // The job has ended, nobody has used it for `ended_idle`, and all that it
  // knows is on the disk.
  bool IsAsleep() const;

  protocol::JobFacts Facts() const;
  // The highest number of the coordinator's that its files name.
  uint64_t highest_number() const { return seat_->HighestAttempt().value(); }
  // There after Start().
  Seat& seat() { return *seat_; }

 private:
  // --- JobListener ---
  void OnFolderGone() override;
  void OnInnerKept() override { ConsiderSave(); }
  void OnData(const absl::Status& outcome) override;
  void OnDataNews() override { status_changed_(); }
  void OnTrainerReady(const ReadyTrainer& trainer) override;
  void OnTrainerFailed(const absl::Status& why) override;
  void OnTrainerAnswer() override { watcher_.OnAnswer(); }
  void OnTrainerRestart(const absl::Status& why) override;
  absl::Duration GroupTimeout() const override {
    return watcher_.GroupTimeout();
  }

  // Runs `task` after `wait`, unless this object is gone by then.
  void After(absl::Duration wait, runtime::Task task);
  // Takes the piece from this worker's own seat if that has it, else from
  // `worker`.
  void FetchPiece(const std::string& worker, const PieceKey& key,
                  Done<absl::StatusOr<SharedBytes>> done);
  // Arms the seat's timer. Called after anything was said to the seat.
  void AfterSeat();

  // --- job_shell_trainer.cc ---
  // Starts a trainer, or ends the one there is, as the seat wants it.
  void ConsiderTrainer();
  void StartTrainer();
  void DropTrainer();
  // Says what is wrong with the current trainer, or with one that had to be
  // ended lately; empty when nothing is.
  std::string TrainerTrouble() const;
  // Takes what a program's trainer says of its model. Errors: InvalidArgument,
  // it is not the model that the job starts from.
  absl::Status TakeProgram(const ReadyTrainer& trainer);

  // --- job_shell_checkpoints.cc ---
  // Brings an inner state here, if there is one to begin with, and then the
  // base, if that has to be read.
  void ReadInner();
  void OnInner(const absl::Status& status);
  void ReadCheckpoint();
  void OnCheckpoint(absl::StatusOr<StartingBase> base);
  // Whether this worker has a base of the state that the job begins with, or a
  // newer one. Those of all fragments are stored in their order.
  bool HasBase() const;
  // The files of fragments from this one on.
  void StoreCheckpoint(std::shared_ptr<StartingBase> base, size_t fragment);
  // What the job begins with is there.
  void BeginTraining();
  // The checkpoint could not be stored here; room may be made on the disk.
  void ReadCheckpointLater(const absl::Status& status);
  // The checkpoint that the job starts from cannot be read here; somebody may
  // make it readable.
  void ReadCheckpointAgain(const absl::Status& status);
  void Save(StateToSave state, StateSaver::Written written);
  // Has a state written that waits to be, once the inner state that belongs to
  // it is there or will not come.
  void ConsiderSave();
  // Looks whether checkpoints can be saved here, and again while they cannot.
  void CheckFolder();
  void OnFolder(const absl::Status& usable);

  const JobId job_;
  // Tells this job from one of another history with the same number.
  const uint64_t uid_;
  const job::JobSpec spec_;
  const JobStart start_;
  const std::optional<InnerSource> inner_of_base_;
  const std::optional<InnerSource> inner_of_newest_;
  const JobMachine machine_;
  absl::AnyInvocable<void()> status_changed_;
  SeatAnswers answers_;
  JobBulkPort bulk_;
  JobHostPort host_;
  StateSaver saver_;
  JobPorts ports_;
  TrainerWatcher watcher_;
  std::unique_ptr<Seat> seat_;
  std::optional<JobProgress> progress_;
  TrainerFailures failures_;
  // Trainers that did not go on; why the last one was ended, and when.
  int hangs_ = 0;
  std::string hang_;
  Instant hung_at_;
  // What the job begins with is there.
  bool can_train_ = false;
  bool reads_base_ = false;  // from a checkpoint
  std::optional<std::pair<StateToSave, StateSaver::Written>> to_save_;
  // There is a trainer, which may not be ready.
  bool has_trainer_ = false;
  // The last trainer has failed, and the next one is not due yet or never is.
  bool backing_off_ = false;
  bool has_orders_ = false;
  bool over_ = false;  // the job has ended
  Instant opened_at_;
  // When it ended, was asked for text, or gave something to a peer; not there
  // when it had ended before and nobody has asked.
  std::optional<Instant> used_at_;
  // When a trainer was last of use although the job is over.
  std::optional<Instant> prompted_at_;
  uint64_t trainers_started_ = 0;
  bool ready_ = false;          // the trainer that there is
  bool data_verified_ = false;  // by a trainer that became ready
  uint64_t elements_ = 0;       // of the model; likewise
  // In a job with a program: what the newest trainer says of its model, and the
  // tensors of the checkpoint that was read here, if one was.
  std::shared_ptr<const checkpoint::ProgramModel> program_;
  std::optional<checkpoint::TensorTable> starting_tensors_;
  // Says why there is no trainer: the last one is gone, or the disk cannot
  // store the state that it begins with. Empty while a trainer is ready.
  std::string trainer_error_;
  // Why the checkpoint that the job went back to could not be read here; others
  // may have it.
  std::string restore_error_;
  // Why checkpoints cannot be saved here, as far as is known.
  std::string folder_error_;
  // Why this worker cannot do the job until somebody removes the cause; empty
  // while it can.
  std::string fatal_;
  std::optional<Instant> armed_;
  // Timers and answers that come after this object is gone see it expired.
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_SHELL_JOB_SHELL_H_
