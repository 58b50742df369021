// simulator/world.h
//
// One whole simulation: machines, the programs on them, and the network between
// them. The same calls give the same history, byte for byte.
#ifndef SKERRY_SIMULATOR_WORLD_H_
#define SKERRY_SIMULATOR_WORLD_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/instant.h"
#include "base/random.h"
#include "coordinator/core/log/records.h"
#include "job/job_spec.h"
#include "proto/skerry/v1/control.pb.h"
#include "simulator/history.h"
#include "simulator/message_pool.h"
#include "simulator/network.h"
#include "simulator/observer.h"
#include "simulator/process.h"
#include "simulator/saved_states.h"
#include "simulator/setting.h"
#include "simulator/sim_journal.h"
#include "simulator/timeline.h"
#include "simulator/trainer.h"
#include "simulator/worker_disk.h"

namespace skerry::sim {

class CoordinatorNode;
class WorkerNode;
struct Endpoint;

class World {
 public:
  // Nothing runs yet. `observer` outlives the world.
  World(const Setting& setting, Observer& observer, size_t history_lines);
  virtual ~World();

  // Runs what is due until `until`, or until all jobs have ended.
  void RunUntil(Instant until);

  // Starts the process on `host`, unless one runs.
  void Start(HostId host);
  // Stops the process now and starts it at `again`.
  void Kill(HostId host, WorkerDisk::End end, Instant again);
  // Asks the coordinator until the journal has the job. Requires: the setting
  // has the size of its model.
  void Submit(const job::JobSpec& spec, const std::string& key);

  bool AllJobsEnded() const;
  // How many commits the journal has, over all jobs.
  uint64_t committed() const { return committed_; }
  // Whether the process of every worker but spare ones is up.
  bool AllWorkersRun() const;
  // The same, and active in its jobs or resting.
  bool AllWorkersWell() const;
  std::string WorkersText() const;

  // --- For the programs.
  Timeline timeline;
  Random random;
  Network network;
  History history;
  TrainerIslands islands;
  SavedStates saved_states;
  Observer& observer;
  const Setting setting;
  MessagePool<v1::Status> status_pool;
  MessagePool<v1::Orders> orders_pool;

  struct Machine {
    Clock clock;
    std::unique_ptr<WorkerDisk> disk;
    // Number of the newest process on this machine; 0 before the first.
    uint64_t run = 0;
    // Number of the newest decision to start or stop the process. A start that
    // was planned under an older number does not happen.
    uint64_t plan = 0;
    // If set, the worker goes by the host's plain name, whatever name its
    // shape has.
    bool own_name = false;
  };
  HostId hosts() const { return static_cast<HostId>(machines_.size()); }
  Machine& machine(HostId host) { return machines_[host]; }
  const WorkerShape& shape(HostId worker) const {
    return setting.workers[worker - 1];
  }
  bool IsSpare(HostId host) const { return host > 0 && shape(host).spare; }
  // Returns the name of the worker on `host`.
  std::string NameOf(HostId host) const;
  // Null while the process is down.
  CoordinatorNode* coordinator_node() const { return coordinator_.get(); }
  WorkerNode* worker_node(HostId host) const { return workers_[host].get(); }
  Process* ProcessOf(HostId host) const;
  // Null unless that run of the worker's process is up.
  WorkerNode* NodeAt(const Endpoint& endpoint) const;
  JournalDisk& journal_disk() { return journal_disk_; }
  uint64_t NextNumber() { return ++numbers_; }
  // Keeps `thing` until the world ends.
  void Keep(std::shared_ptr<void> thing) { kept_.push_back(std::move(thing)); }
  void OnDurable(const std::vector<coordinator::JournalEntry>& entries);
  // The process ends by its own doing; it is started again.
  void Exit(HostId host, const std::string& why);

 protected:
  // In the order of the journal, before the observer sees it.
  virtual void OnRecord(const coordinator::Entry& entry) {}
  // Stops the process now; nothing starts it again by itself.
  void StopForGood(HostId host);
  // Puts an earlier journal in the place of the present one, whose coordinator
  // is killed, and starts it at `again`.
  void ReplaceJournal(const JournalDisk& earlier, Instant again);
  // The journal ends where `last` is now. What is known from it is set back;
  // `milestones`: records of jobs and marks up to there.
  virtual void OnJournalReplaced(
      Revision last, const std::vector<coordinator::Entry>& milestones) {}
  // Ends all programs; a journal that ends may still have a record.
  void EndPrograms();

 private:
  void Stop(HostId host, WorkerDisk::End end);
  void NoteJobs(const coordinator::Entry& entry);

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
  // Records that say which jobs there are and who is marked.
  std::vector<coordinator::Entry> milestones_;
};

}  // namespace skerry::sim

#endif  // SKERRY_SIMULATOR_WORLD_H_
