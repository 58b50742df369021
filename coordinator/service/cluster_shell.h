// coordinator/service/cluster_shell.h
//
// Connects the pure core with the world. It feeds facts to the core and makes
// the core's decisions durable before anyone hears of them.
#ifndef SKERRY_COORDINATOR_SERVICE_CLUSTER_SHELL_H_
#define SKERRY_COORDINATOR_SERVICE_CLUSTER_SHELL_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "base/instant.h"
#include "coordinator/core/cluster.h"
#include "coordinator/core/views/events.h"
#include "coordinator/service/awake_clock.h"
#include "coordinator/service/journal.h"
#include "runtime/event_loop.h"

namespace skerry::coordinator {

// A worker's open stream.
class OrdersStream {
 public:
  virtual ~OrdersStream() = default;
  // False while a message is on its way; the stream then calls
  // ClusterShell::StreamReady() when it has left.
  virtual bool ready() const = 0;
  virtual void Send(const Orders& orders) = 0;
};

// Is told whenever facts were taken in and all decisions that followed are
// durable.
class SettledObserver {
 public:
  virtual ~SettledObserver() = default;
  // `fresh`: the records since the last call, oldest first.
  virtual void OnSettled(const Cluster& cluster, Instant now,
                         std::span<const Entry> fresh,
                         std::vector<GenerateAnswer> answers) = 0;
  // Returns the events to keep when a snapshot replaces the records up to now.
  // Before the first OnSettled, these are the events that were kept last.
  virtual EventHistory SaveEvents() = 0;
  virtual void OnRestored(const EventHistory& events, Instant now) = 0;
};

// When a snapshot replaces records. Both conditions have to hold, so no more is
// written for snapshots than for records.
struct CompactionRule {
  // At least this many records must be in the journal. While a snapshot is
  // written, callers wait longer than for a batch, so it must not happen often.
  size_t records_min = 50'000;
  // And they are so large in comparison with the snapshot before them.
  double bytes_ratio_min = 1.0;
};

// What the shell has counted since the process started.
struct ShellFacts {
  // Facts that wait until the batch on its way is durable.
  size_t facts_waiting = 0;
  size_t streams = 0;
  uint64_t batches = 0;
  uint64_t records = 0;
  // The time from handing a batch to the journal until it was durable, summed
  // over all batches.
  absl::Duration syncing;
  uint64_t snapshots = 0;
  absl::Duration snapshotting;
  // The bytes of the snapshot in the journal, and the number and bytes of the
  // records after it.
  size_t snapshot_bytes = 0;
  size_t tail_records = 0;
  size_t tail_bytes = 0;
  // For each unfinished job, its newest commit since the process started: when
  // it was, and how long it came after the one before. `took` is unset after
  // the first.
  struct Round {
    Instant committed;
    std::optional<absl::Duration> took;
  };
  absl::btree_map<JobId, Round> rounds;
};

// Facts that arrive while a batch is being written wait. Then all of them go
// into the core at once and share the next batch. So the core is never ahead of
// the journal when anybody looks at it, and one sync serves many facts.
//
// Every member is called on the loop. Callers bound the number of waiting
// facts: a stream waits for each of its facts, and operators' calls are counted
// where they come in.
class ClusterShell {
 public:
  using Settled = absl::AnyInvocable<void(const Cluster&, Instant) &&>;
  // Changes the core and says what to do once the change is durable.
  using Fact = absl::AnyInvocable<Settled(Cluster&, Instant) &&>;

  // `loop` and `journal` outlive the shell and what it has posted.
  // Requires: ValidateClusterOptions(options) is OK.
  ClusterShell(const ClusterOptions& options, runtime::EventLoop& loop,
               Journal& journal, const CompactionRule& rule = {});
  ClusterShell(const ClusterShell&) = delete;
  ClusterShell& operator=(const ClusterShell&) = delete;

  // Folds the journal. Called once, before everything else; blocks. `observer`
  // sees every record after the snapshot as fresh.
  //
  // Errors: of Journal::Read; DataLoss when the snapshot or a record cannot be
  // read or does not follow from what is before it, naming its index.
  absl::Status Recover();

  // At most one; outlives the shell's use of it.
  void set_observer(SettledObserver* observer) { observer_ = observer; }

  void Do(Fact fact);
  // Runs `view` when the core stands on durable ground, after all facts that
  // were given before.
  void Look(Settled view);
  // Runs `view` as soon as all that the core holds is durable: at once, unless
  // a batch is on its way. Facts that wait for the next batch, and snapshots,
  // do not delay it.
  void LookSoon(Settled view);

  // The worker's orders go to `stream` from now on, instead of to an earlier
  // one; it is detached before it ends.
  void Attach(const std::string& worker, OrdersStream& stream);
  void Detach(const std::string& worker, const OrdersStream& stream);
  // The worker gets its orders as soon as they may be said; only the newest.
  void Touch(const std::string& worker);
  // Whether the worker has a stream on which orders go out.
  bool HasStream(const std::string& worker) const {
    return streams_.contains(worker);
  }
  // Adds to a worker's orders what the core does not know of. At most one.
  using AddOrders = std::function<void(const std::string& worker, Orders&)>;
  void set_add_orders(AddOrders add) { add_orders_ = std::move(add); }
  // The stream of `worker` can take the next message.
  void StreamReady(const std::string& worker);

  // The core's time: it stands still while this process does.
  Instant Now() const { return clock_.now(); }

  // Stops the core's time while the process stops. Workers that can no longer
  // reach it must not count as silent.
  void StopClock() { clock_stopped_ = true; }

  ShellFacts Counted() const;

  // Runs `task` when nothing waits and no batch is on its way.
  void WhenIdle(runtime::Task task);

 private:
  // Looks at the time. After a sleep everyone has a fresh lease.
  Instant Turn();
  void KeepTurning();
  void PumpSoon();
  void Pump();
  void Append(std::vector<Entry> records);
  void Settle(std::vector<Entry> fresh);
  absl::Status Restore();
  void CountTail(const JournalEntry& entry);
  void CountRounds(std::span<const Entry> fresh);
  bool CompactionDue() const;
  void Compact();
  void DeliverOrders();
  void ArmTimer();
  void OnTimer(Instant when);

  runtime::EventLoop& loop_;
  Journal& journal_;
  Cluster cluster_;
  const absl::Duration lease_;
  AwakeClock clock_;
  SettledObserver* observer_ = nullptr;
  AddOrders add_orders_;

  const CompactionRule rule_;
  ShellFacts counted_;

  std::deque<Fact> waiting_;
  // What to run once the facts that the core has taken in are durable, one for
  // each fact.
  std::vector<Settled> settling_;
  // What waits for the batch on its way alone.
  std::vector<Settled> looking_;
  // False from when the core takes facts in until its records are durable.
  bool durable_ = false;
  // Replayed records that the observer has not seen. It sees them once the
  // records that recovery itself made are durable.
  std::vector<Entry> replayed_;
  bool syncing_ = false;
  // True while `settling_` runs. Orders are delivered afterwards.
  bool settles_now_ = false;
  bool clock_stopped_ = false;
  bool pump_posted_ = false;

  absl::btree_map<std::string, OrdersStream*> streams_;
  absl::btree_set<std::string> touched_;
  // The worker that got its orders last.
  std::string delivered_to_;
  bool delivery_posted_ = false;
  std::optional<Instant> armed_for_;
  std::vector<runtime::Task> when_idle_;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_SERVICE_CLUSTER_SHELL_H_
