// worker/shell/job_ports.h
//
// Defines what a job's shell asks of the machine, apart from the seat's own
// effects: its folder, its trainer's process, checkpoints, inner states and
// data. The daemon has real ports, and tests and the simulator have others.
//
// Every member is called on the loop, and so is every `done`, once, later.
#ifndef SKERRY_WORKER_SHELL_JOB_PORTS_H_
#define SKERRY_WORKER_SHELL_JOB_PORTS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/shared_bytes.h"
#include "checkpoint/model_files.h"
#include "checkpoint/tensor_table.h"
#include "job/job_spec.h"
#include "protocol/job_facts.h"
#include "protocol/piece_key.h"
#include "transport/bulk.h"
#include "worker/core/effects.h"
#include "worker/core/group_meeting.h"
#include "worker/core/seat.h"
#include "worker/core/trainer_watch.h"
#include "worker/daemon/state_saver.h"
#include "worker/shell/inner_source.h"

namespace skerry::worker {

// What a trainer says of itself once it is ready.
struct ReadyTrainer {
  TrainerDescription description;
  // What the trainer of a job with a program says of its model; null in others.
  std::shared_ptr<const checkpoint::ProgramModel> program = nullptr;
  int pid = 0;
  std::string implementation = {};
};

// What ports tell the shell of their job, and ask it. Called on the loop, and
// never inside a call of a port.
class JobListener {
 public:
  virtual ~JobListener() = default;
  // The job's folder was found removed, with everything that was stored in it,
  // and was made again.
  virtual void OnFolderGone() = 0;
  // InnerPort::busy() has become false.
  virtual void OnInnerKept() = 0;
  // The data that DataPort::Take() wanted are there, or could not be brought
  // here.
  virtual void OnData(const absl::Status& outcome) = 0;
  // What DataPort says for operators or the coordinator has changed.
  virtual void OnDataNews() = 0;
  // A process is ready at most once and fails at most once, after that if both
  // come. `why` says how the process ended, what it said of its end, or why it
  // could not be started.
  virtual void OnTrainerReady(const ReadyTrainer& trainer) = 0;
  virtual void OnTrainerFailed(const absl::Status& why) = 0;
  // A trainer that is not ready has answered a call.
  virtual void OnTrainerAnswer() = 0;
  // The seat has called TrainerPort::Restart(). May come inside its call.
  virtual void OnTrainerRestart(const absl::Status& why) = 0;
  // How long the trainer may wait for the others of its group.
  virtual absl::Duration GroupTimeout() const = 0;
};

// The job's folder on the worker's disk.
class FolderPort : public DiskPort {
 public:
  // Makes the folder if needed and lists the bases and results in it. Damaged
  // files are removed, because other workers have the same bytes. Blocks.
  virtual absl::StatusOr<std::vector<StoredFile>> Scan() = 0;
};

// A trainer to be started.
struct TrainerStart {
  // How many trainers this shell has started for the job, with this one.
  uint64_t number = 0;
  std::string data_folder;
  // The files there are known to have the hashes that the job names.
  bool data_verified = false;
};

// The job's trainer: at most one process at a time. Calls without a ready one
// are answered Aborted.
class ProcessPort : public TrainerPort {
 public:
  // Starts a process. Requires: there is none.
  virtual void Start(const TrainerStart& start) = 0;
  // Asks the process how far it is. `done` may run before this returns, later,
  // or, when the process does not answer, never. Errors: Unimplemented, it does
  // not know the question.
  virtual void Ask(
      absl::AnyInvocable<void(absl::StatusOr<TrainerProgress>) &&> done) = 0;
  // The process is of no use: OnTrainerFailed() follows with `why`, or with how
  // the process ended if that says more.
  virtual void Fail(const absl::Status& why) = 0;
  // Ends the process, if there is one. None of its answers and nothing else is
  // heard of it from here on.
  virtual void Drop() = 0;
  // Names the worker with rank 0 in groups to come.
  virtual void SetHead(const std::string& worker) = 0;
  // Another worker of the replica asks where its trainers meet.
  virtual void OnMeet(const MeetRequest& request,
                      GroupMeeting::Answer answer) = 0;
};

// A whole state from a checkpoint, as the bases of all fragments.
struct StartingBase {
  struct File {
    // All spans of a fragment, cut as the job cuts them.
    StoredFile file;
    // The bytes of each piece of `file`, in the same order.
    std::vector<SharedBytes> contents;
  };
  std::vector<File> files;  // by fragment
  // For the comparison with those of a program's trainer.
  checkpoint::TensorTable tensors;
};

// The places where checkpoints are. A `done` may come when the port is gone.
class CheckpointPort {
 public:
  virtual ~CheckpointPort() = default;
  // Reads the checkpoint that `spec` names, and verifies it bit for bit.
  virtual void ReadBase(
      const job::JobSpec& spec,
      absl::AnyInvocable<void(absl::StatusOr<StartingBase>) &&> done) = 0;
  // Writes and verifies a checkpoint.
  virtual void Save(StateToSave state, StateSaver::Written done) = 0;
  // Looks whether this worker can save checkpoints of the job. An error names
  // the folder.
  virtual void CheckFolder(absl::AnyInvocable<void(absl::Status) &&> done) = 0;
};

// The inner state that this worker's trainer saved last, or that came here.
class InnerPort {
 public:
  virtual ~InnerPort() = default;
  // Removes what an interrupted save or another history has left. Blocks.
  virtual absl::Status Tidy() = 0;
  virtual bool is_there() const = 0;
  // What the trainer saved is being made durable.
  virtual bool busy() const = 0;
  // What was saved last, if that is the state at this sequence. The bytes stay
  // as they are when the next one takes its place. Errors: NotFound, with a
  // text that says which state there is.
  virtual absl::StatusOr<SharedBytes> Open(uint64_t sequence) const = 0;
  // Brings the state of a checkpoint here. `done` never comes when the port is
  // gone. Errors: NotFound, the checkpoint has none.
  virtual void Import(const InnerSource& from,
                      absl::AnyInvocable<void(absl::Status) &&> done) = 0;
  // Says why there is no state, for operators.
  virtual void SetWhyNone(const std::string& why) = 0;
};

// The job's data set on this worker.
class DataPort {
 public:
  virtual ~DataPort() = default;
  // Looks whether the job's folder has the set, unless it has looked before.
  // Others may lack what this worker has.
  virtual void LookOnce() = 0;
  // Whether a trainer can read folder() now. If not, the data are looked for or
  // on their way, and OnData() follows.
  virtual bool Take() = 0;
  // No trainer reads the data any more; they may be removed.
  virtual void Release() = 0;
  // The workers that have the set, as the newest orders name them. Returns
  // whether the set can be fetched now and could not before.
  virtual bool OnHolders(const std::vector<std::string>& holders) = 0;
  // Where trainers find the data.
  virtual const std::string& folder() const = 0;
  // Take() compares the files with their hashes.
  virtual bool is_verified() const = 0;
  // Why the data could not be brought here, for operators; empty while nothing
  // is wrong.
  virtual std::string failure() const = 0;
  // Says that they are on their way; empty when they are not.
  virtual std::string news() const = 0;
  // They are on their way, or what was on its way has failed lately.
  virtual bool is_fetching() const = 0;
  // Whether this worker has all files and gives them to others.
  virtual bool has_data() const = 0;
  // Reads one chunk for another worker.
  virtual void Give(const protocol::PieceKey& key,
                    transport::BulkReceiver::FetchAnswer answer) = 0;
};

// The ports of one job.
struct JobPorts {
  std::unique_ptr<FolderPort> folder;
  std::unique_ptr<InnerPort> inner;
  std::unique_ptr<DataPort> data;
  std::unique_ptr<CheckpointPort> checkpoints;
  std::unique_ptr<PeerPort> peers;
  // Gone before all others.
  std::unique_ptr<ProcessPort> trainer;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_SHELL_JOB_PORTS_H_
