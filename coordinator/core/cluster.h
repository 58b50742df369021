// coordinator/core/cluster.h
//
// Makes the coordinator's decisions: who works, on which samples, what is
// exchanged and what becomes history (PROTOCOL 5.1-5.5, 5.7).
//
// This is pure state. The caller says what happened and what time it is, makes
// the records durable, and only then asks for orders. Every decision is a
// record. A record changes the state in the same way when it has just been
// decided and when it is read back. So the fold of a journal is the state that
// wrote it.
//
// How a shell drives it:
//   start:  Restore(snapshot), if there is one; for each entry of the journal
//           after it Apply(entry); then Recovered(now).
//   a fact: OnStatus / Submit / ...; TakeRecords(); append and sync them while
//           this object is not touched; then answer, and WriteOrders for the
//           senders and for everyone in TakeTouched().
//   time:   Tick(now) at NextDeadline(), then as for a fact.
// `now` never goes back between calls.
#ifndef SKERRY_COORDINATOR_CORE_CLUSTER_H_
#define SKERRY_COORDINATOR_CORE_CLUSTER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "base/instant.h"
#include "coordinator/core/log/audit.h"
#include "coordinator/core/log/join_table.h"
#include "coordinator/core/log/records.h"
#include "coordinator/core/log/snapshot.h"
#include "coordinator/core/log/worker_intent.h"
#include "coordinator/core/rules/generate_desk.h"
#include "coordinator/core/rules/state_view.h"
#include "coordinator/core/state/options.h"
#include "coordinator/core/views/events.h"
#include "coordinator/core/views/job_plan.h"
#include "coordinator/core/views/views.h"
#include "job/job_spec.h"
#include "protocol/job_orders.h"
#include "protocol/orders.h"
#include "protocol/status_facts.h"
#include "protocol/stored_jobs.h"

namespace skerry::coordinator {

using protocol::Orders;

struct Submission {
  JobId job;
  std::vector<std::string> warnings;
  // The job was there already.
  bool unchanged = false;
};

class Cluster {
 public:
  // Requires: ValidateClusterOptions(options) is OK.
  explicit Cluster(const ClusterOptions& options);
  ~Cluster();
  Cluster(Cluster&&) noexcept;
  Cluster& operator=(Cluster&&) noexcept;

  // --- Replay. Before Recovered, nothing else may be called.
  //
  // Starts from what Save() has once answered instead of from nothing.
  //
  // Errors: DataLoss when the snapshot contradicts itself; the object is of no
  // use then.
  absl::Status Restore(const ClusterSnapshot& snapshot);
  // Folds one entry of the journal. Errors: DataLoss when the entry does not
  // follow from those before it, so that this program cannot have written the
  // journal.
  absl::Status Apply(const Entry& entry);
  // Ends the replay: every current incarnation has a full lease from now, every
  // open attempt a full deadline. Also called for an empty journal.
  void Recovered(Instant now);

  // --- Facts.
  //
  // Errors: Aborted when this boot was superseded or its lease ended (start
  // with a new one); AlreadyExists when another process has the worker's name,
  // and Unavailable when that one's connection is lost and its lease has not
  // ended; InvalidArgument; ResourceExhausted when workers_max are registered.
  // OK for a late repetition, which has no effect.
  absl::Status OnStatus(const StatusFacts& status, Instant now);
  // The control stream of that boot broke. Nothing happens when the boot is not
  // current.
  void OnStreamLost(std::string_view worker, Boot boot, Instant now);
  // Submits a job. The same key and content give the same job again. With
  // `apply` so does any key, if the newest job of that name has this content,
  // even if it has ended.
  //
  // Errors: InvalidArgument with every problem, one a line; AlreadyExists when
  // an unfinished job has the name; FailedPrecondition when the key was used
  // for other content; ResourceExhausted when jobs_max are unfinished.
  absl::StatusOr<Submission> Submit(const job::JobSpec& spec,
                                    std::string_view idempotency_key,
                                    Instant now, bool apply = false);
  // A finished job stays as it is.
  //
  // Errors: NotFound.
  absl::Status Cancel(JobId job, Instant now);
  // Forgets the job.
  //
  // Errors: NotFound; FailedPrecondition when it has not ended.
  absl::Status Delete(JobId job, Instant now);
  // Pauses or resumes the job. A paused job starts no round, delivers what is
  // owed, and keeps every life. Without effect if it is so already.
  //
  // Errors: NotFound; FailedPrecondition when the job has ended.
  absl::Status SetPaused(JobId job, bool paused, Instant now);
  // Carries out an operator's decision about a job that stands because workers
  // have another history than the journal. The job goes on from a checkpoint
  // or, without one, from the state that workers hold.
  //
  // Errors: NotFound; FailedPrecondition when the job does not stand for that,
  // has ended, or the chosen state is not there.
  absl::Status RestoreJob(JobId job, std::optional<Checkpointed> saved,
                          Instant now);
  // Errors: NotFound when no worker of that name is remembered.
  absl::Status SetIntent(std::string_view worker, WorkerIntent intent,
                         Instant now);
  // Has the worker remove those of these folders that it has when it hears of
  // this. Not durable.
  //
  // Errors: as RemoveStoredJobs.
  absl::Status RemoveStored(std::string_view worker, protocol::StoredKeys keys,
                            Instant now);
  // Emits what one of the table's rules decides, if anything. Errors: those of
  // the rule.
  using JoinRule = absl::FunctionRef<absl::StatusOr<std::optional<JoinChanged>>(
      const JoinTable&)>;
  absl::Status ChangeJoins(JoinRule rule, Instant now);
  // Puts a prompt to a worker with the job's whole state; the answer comes
  // through TakeAnswers, at the latest after `timeout`.
  //
  // Errors: NotFound; FailedPrecondition when the job has no state yet or none
  // of its workers is there; ResourceExhausted; AlreadyExists when the request
  // number is in use.
  absl::Status Generate(JobId job, const GenerateOrder& request,
                        absl::Duration timeout, Instant now);
  // The asker is gone.
  void ForgetGenerate(uint64_t request);
  // Asks workers for a minute what they find under `path`. Plan and Submit
  // judge by the answers.
  void LookAt(const std::string& path, Instant now);
  // Gives every current incarnation a full lease from now. For after a time in
  // which nothing was taken in although workers may have spoken.
  void GiveLeases(Instant now);
  void Tick(Instant now);

  // When Tick has work to do; at once when it has passed.
  std::optional<Instant> NextDeadline() const;

  // --- What follows from them.
  //
  // Decides what follows from what was heard, and returns the records decided
  // since the last call, in order, with their indexes. Facts that are taken in
  // together are decided on once, so that the cost of a decision does not
  // multiply with the number of workers that report.
  std::vector<Entry> TakeRecords();
  // Workers whose orders may have changed since the last call, by name.
  std::vector<std::string> TakeTouched();
  std::vector<GenerateAnswer> TakeAnswers();
  // Gives `write` the orders of each of these workers that has a current
  // incarnation. They all come from one state, so what is the same for many is
  // found out once.
  //
  // Requires: no record is waiting in TakeRecords, and all taken are durable.
  using WriteTo =
      absl::FunctionRef<void(const std::string& worker, Orders orders)>;
  void WriteOrders(std::span<const std::string> workers, Instant now,
                   WriteTo write) const;

  // --- Views.
  Revision revision() const;
  // The newest job of that name. Errors: NotFound.
  absl::StatusOr<JobId> FindJob(std::string_view name) const;
  // Errors: NotFound.
  absl::StatusOr<JobView> ViewJob(JobId job, Instant now) const;
  std::vector<JobView> ViewJobs(Instant now) const;
  std::vector<WorkerView> ViewWorkers(Instant now) const;
  // Errors: NotFound.
  absl::StatusOr<WorkerView> ViewWorker(std::string_view worker,
                                        Instant now) const;
  const JoinTable& joins() const;
  // Returns what Submit would lead to. `elements` is the size of the model; 0
  // when it is not known. Errors: as Submit.
  absl::StatusOr<JobPlan> Plan(const job::JobSpec& spec,
                               uint64_t elements) const;
  // Errors: NotFound; FailedPrecondition when no whole state is there.
  absl::StatusOr<StateView> LocateState(JobId job) const;
  // Errors: NotFound.
  absl::StatusOr<AuditReport> Audit(JobId job) const;

  // Returns what the fold of every record so far has left. Requires: all
  // records are taken and durable.
  ClusterSnapshot Save() const;
  // Returns a hash of only the durable state. It is equal before a crash and
  // after the replay.
  uint64_t StateHash() const;
  // Stops the process unless the parts agree. For tests and simulation.
  void CheckInvariants() const;
  // Copies the cluster with all that was heard, so that the copy goes on as
  // this one would. For tests that try every order of events.
  Cluster Clone() const;

 private:
  class Impl;
  explicit Cluster(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_CLUSTER_H_
