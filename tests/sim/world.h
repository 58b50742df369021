// tests/sim/world.h
//
// Everything of one simulation: machines, the programs on them, the network
// between them, and what faults do to each. The same schedule gives the same
// history, byte for byte.
#ifndef SKERRY_TESTS_SIM_WORLD_H_
#define SKERRY_TESTS_SIM_WORLD_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/instant.h"
#include "base/random.h"
#include "coordinator/core/options.h"
#include "coordinator/core/records.h"
#include "proto/skerry/v1/control.pb.h"
#include "tests/sim/history.h"
#include "tests/sim/message_pool.h"
#include "tests/sim/moments.h"
#include "tests/sim/network.h"
#include "tests/sim/observer.h"
#include "tests/sim/process.h"
#include "tests/sim/schedule.h"
#include "tests/sim/sim_journal.h"
#include "tests/sim/timeline.h"
#include "tests/sim/trainer.h"
#include "tests/sim/worker_disk.h"

namespace skerry::sim {

class CoordinatorNode;
class WorkerNode;

class World {
 public:
  // `observer` outlives the world.
  World(const Schedule& schedule, Observer& observer, size_t history_lines);
  ~World();

  // Runs what is due until `until`, or until all jobs have ended.
  void RunUntil(Instant until);

  // Brings a fault about now, whenever it is said to be.
  void Apply(const Fault& fault);

  bool AllJobsEnded() const;
  // Samples that commits of the journal have named, over all jobs.
  uint64_t committed() const { return committed_; }
  // Whether every worker's process is up, and active in its jobs or resting.
  bool AllWorkersWell() const;
  std::string WorkersText() const;

  // --- For the programs.
  Timeline timeline;
  Random random;
  Network network;
  History history;
  TrainerIslands islands;
  Observer& observer;
  const Schedule schedule;
  const coordinator::ClusterOptions options;
  MessagePool<v1::Status> status_pool;
  MessagePool<v1::Orders> orders_pool;

  struct Machine {
    Clock clock;
    std::unique_ptr<WorkerDisk> disk;
    // Of the process that runs or ran.
    uint64_t run = 0;
    // The newest start or stop that counts.
    uint64_t plan = 0;
  };
  Machine& machine(HostId host) { return machines_[host]; }
  const WorkerShape& shape(HostId worker) const {
    return schedule.workers[worker - 1];
  }
  // Null while it is down.
  CoordinatorNode* coordinator_node() const { return coordinator_.get(); }
  WorkerNode* worker_node(HostId host) const { return workers_[host].get(); }
  // By PeerAddress.
  HostId HostOf(const std::string& address) const;
  JournalDisk& journal_disk() { return journal_disk_; }
  uint64_t NextNumber() { return ++numbers_; }
  // Until the world ends.
  void Keep(std::shared_ptr<void> thing) { kept_.push_back(std::move(thing)); }
  void OnDurable(const std::vector<coordinator::JournalEntry>& entries);
  // The process ends by its own doing; it is started again.
  void Exit(HostId host, const std::string& why);

 private:
  Process* ProcessOf(HostId host) const;
  void Start(HostId host);
  void Stop(HostId host, WorkerDisk::End end);
  // Stops it now and starts it after `lasts`.
  void Kill(HostId host, WorkerDisk::End end, absl::Duration lasts);
  void ApplyToNetwork(const Fault& fault);
  void ApplyToMachine(const Fault& fault);
  void ApplyByOperator(const Fault& fault);
  // Brings strikes about whose moment the record is.
  void StrikeAt(const coordinator::Entry& entry);
  // Runs `task` when the fault's time is over, or when it has to be calm.
  void When(absl::Duration lasts, Timeline::Task task);
  void CutBoth(HostId host, int change);
  void Cut(HostId from, HostId to, int change);
  void Flap(HostId host, absl::Duration period, Instant until, bool cut);
  void Submit(uint32_t job);
  void Rot(HostId host);
  void AskPaused(const std::string& job, bool paused);
  void AskIntent(const std::string& worker, coordinator::WorkerIntent intent);
  // Operators take back what they have held.
  void Release();
  void Calm();

  std::vector<std::shared_ptr<void>> kept_;
  std::vector<Machine> machines_;
  JournalDisk journal_disk_;
  std::unique_ptr<CoordinatorNode> coordinator_;
  std::vector<std::unique_ptr<WorkerNode>> workers_;
  uint64_t numbers_ = 0;
  uint64_t committed_ = 0;
  std::map<JobId, bool> ended_;
  // Keys of jobs that the journal holds.
  std::set<std::string> submitted_;
  // As the journal has it.
  std::map<JobId, std::string> job_names_;
  std::set<JobId> paused_;
  Moments moments_;
  // That wait for their moment.
  std::vector<Fault> strikes_;
  std::set<std::string> marked_;
};

}  // namespace skerry::sim

#endif  // SKERRY_TESTS_SIM_WORLD_H_
