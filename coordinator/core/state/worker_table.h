// coordinator/core/state/worker_table.h
//
// Knows which worker processes are current, which are silent, and which may
// never come back (PROTOCOL 1 and 5.5).
//
// A worker has at most one current incarnation. Its boot and incarnation come
// from records. The time at which it last spoke does not, and is never durable.
#ifndef SKERRY_COORDINATOR_CORE_STATE_WORKER_TABLE_H_
#define SKERRY_COORDINATOR_CORE_STATE_WORKER_TABLE_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "base/instant.h"
#include "base/name_map.h"
#include "coordinator/core/log/records.h"
#include "coordinator/core/log/snapshot.h"
#include "coordinator/core/log/state_hash.h"
#include "coordinator/core/log/worker_intent.h"
#include "coordinator/core/state/learned.h"
#include "coordinator/core/state/options.h"
#include "coordinator/core/state/reach_table.h"
#include "protocol/peers.h"
#include "protocol/program_fact.h"
#include "protocol/status_facts.h"
#include "protocol/stored_jobs.h"

namespace skerry::coordinator {

using protocol::StatusFacts;
using protocol::StoredJobKey;

struct Worker {
  // Durable.
  protocol::PeerAddress self;
  std::string island;
  std::string release;
  Boot boot;
  Incarnation incarnation;
  bool left = false;
  FolderId folder;
  Boot process;
  // Boots that were replaced or whose lease ended, newest last.
  std::deque<Boot> former;
  WorkerIntent intent = WorkerIntent::kServe;
  // Heard.
  Instant last_heard;
  uint64_t counter = 0;
  bool draining = false;
  std::string drain_reason;
  bool stream_lost = false;
  bool suspected = false;
  LearnedDuration gaps{32, 8};
  // While current: when it is next suspected or lost.
  Instant due;
  protocol::MachineFacts machine;
  std::vector<job::DataFacts> data;
  bool looks_at_data = false;
  std::vector<protocol::ProgramFact> programs;
  uint64_t revoked_version = 0;
  // StatusFacts::takes_streams. It is true until the worker has spoken.
  bool takes_streams = true;
  // StatusFacts::takes_relays. It, too, is true until the worker has spoken.
  bool takes_relays = true;
  // StatusFacts::fetches_data.
  bool fetches_data = false;
  std::vector<std::string> unreached;
  // Whether it is in ReachTable as one that nobody can dial.
  bool found_hidden = false;
  // The newest process that was refused because this one has its name.
  struct Contender {
    std::string address;
    Instant at;
  };
  std::optional<Contender> contender;
  protocol::StoredJobs stored;  // by key
  // An operator wants these folders removed; until the worker has done so.
  absl::btree_set<StoredJobKey> unwanted;

  // Returns whether it opens the streams to workers of other islands, which
  // cannot dial it.
  bool IsHidden() const { return self.outbound_only || found_hidden; }
  // Returns whether the worker leaves, by its own notice or at an operator's
  // word.
  bool Leaves() const { return draining || intent == WorkerIntent::kDrain; }
  // Returns whether the Status says something new that decides which places the
  // worker may have.
  bool MayMoveBy(const StatusFacts& status) const {
    return suspected || draining != status.draining ||
           machine.host != status.machine.host || programs != status.programs ||
           takes_streams != status.takes_streams ||
           takes_relays != status.takes_relays;
  }
};

class WorkerTable {
 public:
  explicit WorkerTable(const ClusterOptions& options);

  // --- Fold. Errors: DataLoss.
  absl::Status Apply(Incarnation index, const WorkerAdmitted& record);
  absl::Status Apply(const WorkerLeft& record);
  absl::Status Apply(const WorkerMarked& record);
  // What the fold of the records so far has left, by name.
  std::vector<WorkerSnapshot> Save() const;
  // Into an empty table. Errors: DataLoss when a worker is named twice.
  absl::Status Restore(const std::vector<WorkerSnapshot>& saved);
  // Everyone current has a full lease from now.
  void GiveLeases(Instant now);

  // --- Facts.
  enum class Verdict { kRegister, kCurrent, kRepetition };
  // Errors: Aborted, AlreadyExists and Unavailable, as Cluster::OnStatus;
  // ResourceExhausted; InvalidArgument when a live worker of that name has
  // another island.
  absl::StatusOr<Verdict> Judge(const StatusFacts& status, Instant now) const;
  // Remembers who was refused because another process has its name.
  void Refused(const StatusFacts& status, const absl::Status& why, Instant now);
  // Returns whether by what it has found somebody is reached otherwise than
  // before. Requires: the worker is current.
  bool Heard(const StatusFacts& status, Instant now);
  // An operator wants the worker's folder of that job removed. Requires: the
  // worker is current.
  void RemoveStored(std::string_view worker, const StoredJobKey& key);
  // Whether that boot is current.
  bool LoseStream(std::string_view worker, Boot boot, Instant now);
  // Suspects whoever is due; answers their names.
  std::vector<std::string> SuspectDue(Instant now);
  // Current workers silent for a lease, by name.
  std::vector<std::string> Expired(Instant now) const;

  // Null unless the worker has a current incarnation.
  // The current worker of the island that was admitted first, among those that
  // have named their host; null when there is none.
  const Worker* FirstOnHost(std::string_view island) const;
  const Worker* FindCurrent(std::string_view worker) const;
  // Errors: NotFound when no worker of that name is remembered.
  absl::StatusOr<const Worker*> Find(std::string_view worker) const;
  bool IsCurrent(std::string_view worker, Incarnation incarnation) const;
  const NameMap<Worker>& all() const { return workers_; }
  // The current workers that pass streams on and can be dialled.
  const absl::btree_set<std::string>& relays() const { return relays_; }
  // The current workers that cannot be dialled.
  const absl::btree_set<std::string>& hidden() const { return hidden_; }
  // What workers found when they dialled each other.
  const ReachTable& reach() const { return reach_; }
  // The current workers, in an order that has nothing to do with their names.
  using Ring = absl::btree_set<std::pair<uint64_t, std::string>>;
  const Ring& ring() const { return ring_; }
  static Ring::value_type RingPlace(const std::string& worker);
  // Adds the names of all workers.
  void AddNames(absl::btree_set<std::string>& names) const {
    for (const auto& [name, worker] : workers_) names.insert(name);
  }

  // Adds the names of the current workers that use relays or are relays. They
  // have to hear at once when another relay takes over.
  void AddRelayed(absl::btree_set<std::string>& names) const;

  std::optional<Instant> NextDeadline() const;
  void HashInto(StateHasher& hasher) const;

 private:
  absl::Duration SuspectAfter(const Worker& worker) const;
  Instant DueOf(const Worker& worker) const;
  void Schedule(const std::string& name, Worker& worker);
  void Unschedule(const std::string& name, const Worker& worker);
  void Retire(Worker& worker);
  // Has `relays_`, `hidden_` and `ring_` be true of the worker.
  void IndexReach(const Worker& worker);
  bool HeardTries(const std::string& finder, const StatusFacts& status,
                  Instant now);
  // The process that the worker was is over, in these two.
  void ForgetReach(Worker& worker);
  void ForgetHost(const Worker& worker);
  // Whether a process that asks to be registered may take over the name of
  // `worker`, which is current. Errors: AlreadyExists and Unavailable.
  absl::Status CheckTakeover(const Worker& worker, const StatusFacts& status,
                             Instant now) const;
  void ForgetOneLost();

  const ClusterOptions options_;
  NameMap<Worker> workers_;
  // When a current worker is next suspected or lost.
  absl::btree_set<std::pair<Instant, std::string>> due_;
  // Current workers that have named their host, by island and incarnation.
  absl::btree_map<std::string, absl::btree_map<Incarnation, std::string>>
      on_hosts_;
  absl::btree_set<std::string> relays_;
  absl::btree_set<std::string> hidden_;
  Ring ring_;
  ReachTable reach_;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_STATE_WORKER_TABLE_H_
