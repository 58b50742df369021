// worker/daemon/job_runtime.h
//
// Runs one job on this worker: its seat, and the trainer, disk and links that
// the seat asks for. job_checkpoints.cc has what it does with checkpoints.
#ifndef SKERRY_WORKER_DAEMON_JOB_RUNTIME_H_
#define SKERRY_WORKER_DAEMON_JOB_RUNTIME_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "base/ids.h"
#include "checkpoint/model_files.h"
#include "checkpoint/tensor_table.h"
#include "job/job_spec.h"
#include "proto/skerry/v1/trainer.pb.h"
#include "protocol/job_facts.h"
#include "protocol/job_orders.h"
#include "runtime/blob_stores.h"
#include "runtime/event_loop.h"
#include "runtime/executor.h"
#include "runtime/files.h"
#include "transport/bulk.h"
#include "transport/directory.h"
#include "worker/core/seat.h"
#include "worker/core/trainer_failures.h"
#include "worker/daemon/bulk_port.h"
#include "worker/daemon/data_cache.h"
#include "worker/daemon/data_server.h"
#include "worker/daemon/host_port.h"
#include "worker/daemon/inner_source.h"
#include "worker/daemon/inner_store.h"
#include "worker/daemon/job_data.h"
#include "worker/daemon/job_disk.h"
#include "worker/daemon/job_progress.h"
#include "worker/daemon/job_start.h"
#include "worker/daemon/peer_client.h"
#include "worker/daemon/peer_port.h"
#include "worker/daemon/programs.h"
#include "worker/daemon/saved_state.h"
#include "worker/daemon/seat_answers.h"
#include "worker/daemon/starting_base.h"
#include "worker/daemon/state_saver.h"
#include "worker/daemon/trainer_host.h"
#include "worker/daemon/trainer_seam.h"

namespace skerry::worker {

// What the jobs of a worker share. All of it outlives them.
struct JobEnvironment {
  runtime::EventLoop& loop;
  runtime::Executor& compute;
  runtime::Executor& disk;
  // Runs checks of checkpoint folders and saves, which may take long.
  runtime::Executor& save;
  // Syncs inner states, and brings those of checkpoints here.
  runtime::Executor& inner;
  runtime::Files& files;
  runtime::BlobStores& places;
  // Data sets that lie in object stores and with other workers.
  DataCache& data_cache;
  // Gives data sets to other workers.
  DataServer& data_server;
  transport::BulkTransport& bulk;
  PeerClient& peers;
  // Where the transport and the client find other workers. It learns from
  // orders.
  transport::Directory& directory;
  std::string worker;
  // MachineFacts::host of this machine.
  std::string host;
  // Host name or IP address at which trainers on other hosts of the island
  // reach this worker's; empty: its trainer meets those of its host only.
  std::string island_address;
  std::string state_directory;
  std::string run_directory;
  // Programs with their flags: the trainer of jobs with a config, and that of
  // jobs with a program, which lacks the flags that name it.
  std::vector<std::string> trainer_command;
  std::vector<std::string> attach_command;
  Programs& programs;
  // How long a job that is over keeps its memory, and the trainer that answered
  // a prompt, while nobody uses them.
  absl::Duration ended_idle;
};

// Members are called on the loop, and so is the handler.
class JobRuntime {
 public:
  // `orders` are the first that name the job. `status_changed` is called when
  // Facts() says something new.
  JobRuntime(const protocol::JobOrders& orders,
             const JobEnvironment& environment,
             absl::AnyInvocable<void()> status_changed);
  ~JobRuntime();
  JobRuntime(const JobRuntime&) = delete;
  JobRuntime& operator=(const JobRuntime&) = delete;

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
  void OnMeet(const MeetRequest& request, GroupMeeting::Answer answer) {
    trainer_.OnMeet(request, std::move(answer));
  }

  // The job has ended, nobody has used it for `ended_idle`, and all that it
  // knows is on the disk.
  bool IsAsleep() const;

  protocol::JobFacts Facts() const;
  // The highest number of the coordinator's that its files name.
  uint64_t highest_number() const { return seat_->HighestAttempt().value(); }

 private:
  // Brings an inner state here, if there is one to begin with, and then the
  // base, if that has to be read.
  void ReadInner();
  void OnInner(const absl::Status& status);
  void ReadCheckpoint();
  void OnCheckpoint(absl::StatusOr<StartingBase> base);
  // The files of fragments from this one on.
  void StoreCheckpoint(std::shared_ptr<StartingBase> base, size_t fragment);
  void ReadCheckpointLater(const absl::Status& status);
  // Takes the piece from this worker's own seat if that has it, else from
  // `worker`.
  void FetchPiece(const std::string& worker, const PieceKey& key,
                  Done<absl::StatusOr<SharedBytes>> done);
  void Save(StateToSave state, StateSaver::Written written);
  // Has a state written that waits to be, once the inner state that belongs to
  // it is there or will not come.
  void ConsiderSave();
  // The checkpoint that the job starts from cannot be read here; somebody may
  // make it readable.
  void ReadCheckpointAgain(const absl::Status& status);
  // Looks whether checkpoints can be saved here, and again while they cannot.
  void CheckFolder();
  void OnFolder(const absl::Status& usable);
  // Starts a trainer, or ends the one there is, as the seat wants it.
  void ConsiderTrainer();
  void StartTrainer();
  // Starts this trainer, which serves the job.
  void Launch(std::vector<std::string> command);
  // The process ends in the next turn of the loop, because the host may be the
  // one that calls.
  void DropTrainer();
  // Says what is wrong with the current trainer, or with one that had to be
  // ended lately; empty when nothing is.
  std::string TrainerTrouble() const;
  void OnTrainerReady(const v1::DescribeReply& reply);
  // Takes what a program's trainer says of its model. Errors: InvalidArgument,
  // it cannot be, or is not the model that the job starts from.
  absl::Status TakeProgram(const v1::DescribeReply& reply);
  void OnTrainerFailed(absl::Status status);
  // The data for the trainer are here, or could not be brought here.
  void OnData(const absl::Status& outcome);
  // Arms the seat's timer. Called after anything was said to the seat.
  void AfterSeat();

  const JobId job_;
  // Tells this job from one of another history with the same number.
  const uint64_t uid_;
  const job::JobSpec spec_;
  const JobStart start_;
  const JobEnvironment environment_;
  const std::string folder_;  // of the job
  absl::AnyInvocable<void()> status_changed_;
  SeatAnswers answers_;
  JobDisk disk_;
  InnerStore inner_;
  const std::optional<InnerSource> inner_of_base_;
  const std::optional<InnerSource> inner_of_newest_;
  TrainerSeam trainer_;
  JobBulkPort bulk_;
  JobPeerPort peers_;
  JobHostPort host_;
  StateSaver saver_;
  JobData data_;
  std::unique_ptr<Seat> seat_;
  std::optional<JobProgress> progress_;
  std::unique_ptr<TrainerHost> trainer_host_;
  TrainerFailures failures_;
  absl::Duration longest_step_;  // of the last trainer
  // Trainers that did not go on; why the last one was ended, and when.
  int hangs_ = 0;
  std::string hang_;
  Instant hung_at_;
  // What the job begins with is there.
  bool can_train_ = false;
  bool reads_base_ = false;  // from a checkpoint
  std::optional<std::pair<StateToSave, StateSaver::Written>> to_save_;
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
  // Timers and tasks that run after this object is gone see it expired.
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_JOB_RUNTIME_H_
