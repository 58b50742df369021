// coordinator/core/state/cluster_fold.h
//
// Holds the coordinator's durable state, which is the fold of its records, and
// the records that were decided and not taken yet. Deciding and replaying
// change the state through the same fold.
#ifndef SKERRY_COORDINATOR_CORE_STATE_CLUSTER_FOLD_H_
#define SKERRY_COORDINATOR_CORE_STATE_CLUSTER_FOLD_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/status/status.h"
#include "base/ids.h"
#include "coordinator/core/log/join_table.h"
#include "coordinator/core/log/records.h"
#include "coordinator/core/log/snapshot.h"
#include "coordinator/core/state/job_table.h"
#include "coordinator/core/state/options.h"
#include "coordinator/core/state/worker_table.h"
#include "protocol/status_facts.h"

namespace skerry::coordinator {

class ClusterFold {
 public:
  explicit ClusterFold(const ClusterOptions& options)
      : workers(options), jobs(options) {}

  // These four do what the functions of Cluster with the same names promise.
  absl::Status Apply(const Entry& entry);
  absl::Status Restore(const ClusterSnapshot& saved);
  ClusterSnapshot Save() const;
  uint64_t StateHash() const;

  // Decides a record: it is part of the state when this returns.
  void Emit(Record record) { EmitAt(Next(revision_), std::move(record)); }
  // The replay is over: from now on this process speaks.
  void Recovered() { recovered_to_ = revision_; }
  // Whether a worker that this process has told nothing yet knows of a record
  // after the end that the journal had when it began. Nothing is said that the
  // journal does not hold, so that it was one of a journal that is lost.
  bool KnowsLostRecords(const StatusFacts& status) const;
  // Raises the numbers above all that the worker knows, and above those that
  // workers that are away may know. Once is enough for all of them.
  void RaiseNumbers(const StatusFacts& status);

  Revision revision() const { return revision_; }
  // The number of a job that is submitted with the next record.
  JobId NextJob() const { return JobId(Next(revision_).value()); }
  bool has_records() const { return !records_.empty(); }
  std::vector<Entry> TakeRecords() { return std::exchange(records_, {}); }

  WorkerTable workers;
  JobTable jobs;
  JoinTable joins;
  // Workers whose orders a record may have changed.
  absl::btree_set<std::string> touched;

 private:
  absl::Status Fold(const Entry& entry);
  void EmitAt(Revision index, Record record);

  Revision revision_;
  Revision recovered_to_;
  bool raised_ = false;  // by this process
  std::vector<Entry> records_;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_STATE_CLUSTER_FOLD_H_
