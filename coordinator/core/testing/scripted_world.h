// coordinator/core/testing/scripted_world.h
//
// Runs a coordinator's core among fake workers. Processes die, and the network
// loses, repeats and reorders messages, all from one seed. At every step it
// checks every promise of PROTOCOL 8 that can be seen at the coordinator.
#ifndef SKERRY_COORDINATOR_CORE_TESTING_SCRIPTED_WORLD_H_
#define SKERRY_COORDINATOR_CORE_TESTING_SCRIPTED_WORLD_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/instant.h"
#include "base/random.h"
#include "coordinator/core/cluster.h"
#include "coordinator/core/testing/fake_worker.h"

namespace skerry::coordinator {

struct WorldOptions {
  uint64_t seed = 0;
  // Island of each worker; workers are named w0, w1, ...
  std::vector<std::string> islands;
  std::vector<job::JobSpec> jobs;
  // Chances at every step of 20 ms, switched off after `faults_end`.
  double lose = 0;
  double repeat = 0;
  double kill = 0;
  double drain = 0;
  double crash = 0;
  double lie = 0;
  // An operator holds a job or lets it go on, and changes what a worker is
  // wanted for; in the end all go on.
  double pause = 0;
  double mark = 0;
  // The durable state is saved, and the next recovery starts from there. This
  // happens after `faults_end` too.
  double snapshot = 0;
  // Jobs that share a worker.
  size_t seats_max = 4;
  // Rounds of w0 take so many times as long.
  int64_t slowness = 1;
  absl::Duration faults_end = absl::Seconds(40);
  absl::Duration time_max = absl::Seconds(400);
};

class ScriptedWorld {
 public:
  explicit ScriptedWorld(const WorldOptions& options);

  // Runs until every job has ended or the time is over.
  void Run();

  // What was found to be broken, one a line; empty when nothing was.
  const std::string& broken() const { return broken_; }
  // The journal as a hash, for comparing runs.
  uint64_t JournalHash() const;
  const std::vector<Entry>& journal() const { return journal_; }
  const Cluster& cluster() const { return *cluster_; }
  Instant now() const { return now_; }
  uint64_t crashes() const { return crashes_; }
  uint64_t kills() const { return kills_; }
  uint64_t snapshots() const { return snapshots_; }
  uint64_t pauses() const { return pauses_; }
  uint64_t marks() const { return marks_; }

 private:
  template <typename T>
  struct Mail {
    Instant due;
    std::string worker;
    T content;
  };

  bool Chance(double share);
  bool Faulty() const;
  bool AllEnded() const;
  void Break(const std::string& what);
  void Recover();
  // Restores a core from the snapshot and the records after it. It must equal
  // one that replays the whole journal.
  std::unique_ptr<Cluster> FromSnapshot(const Cluster& whole);
  // Makes what was decided durable and tells whoever is concerned; or dies.
  void Flush();
  void CheckRecord(const Entry& entry);
  void CheckIntent(const Entry& entry);
  void CheckTurn(const ReplicaAdmitted& admitted);
  ClusterOptions FastOptions() const;
  void Send(FakeWorker& worker);
  void Tell(const std::string& worker);
  void Deliver();
  void Faults();
  void Operate();
  void StepWorker(FakeWorker& worker);
  void StepRecovery(JobId job, FakeWorker& worker, FakeSeat& seat);
  void StepExchange(JobId job, FakeWorker& worker, FakeSeat& seat,
                    size_t index);
  void StepEvaluation(FakeSeat& seat);
  void StepReplicas();
  void StepReplica(JobId job, std::vector<FakeWorker*>& workers);
  bool AgreeOnCut(JobId job, const std::vector<FakeWorker*>& workers);
  bool CanFetch(JobId job, Sequence sequence, Attempt attempt, uint32_t span);
  // The entry after `applied`, once all that the seat needs of it is somewhere.
  const CommittedEntry* Applicable(JobId job, const FakeSeat& seat, size_t part,
                                   Sequence applied);
  bool ApplyOne(JobId job, FakeWorker& worker, FakeSeat& seat, size_t part);
  // Which part delivers what it has although no round ends.
  std::optional<size_t> Delivers(JobId job,
                                 const std::vector<FakeWorker*>& workers,
                                 bool awaits);
  void CheckWorkers();

  const WorldOptions options_;
  Random random_;
  Instant now_;
  std::vector<std::unique_ptr<FakeWorker>> workers_;
  std::map<std::string, Instant> restart_at_;
  std::map<std::string, Instant> last_sent_;
  std::map<std::string, StatusFacts> last_status_;
  std::unique_ptr<Cluster> cluster_;
  std::vector<Entry> journal_;
  uint64_t durable_hash_ = 0;
  std::optional<ClusterSnapshot> snapshot_;
  std::vector<Mail<StatusFacts>> to_cluster_;
  std::vector<Mail<Orders>> to_workers_;
  // Which worker has sent its frames of which attempt.
  std::map<std::pair<uint64_t, std::string>, bool> frames_;
  // What the journal says of each job: committed (life, round), ranges,
  // results.
  struct TruePart {
    // Entry i holds each span's anchor hash after commit i + 1.
    std::vector<std::vector<uint64_t>> anchors;
    data::RangeSet covered;
    Attempt open;
    Sequence newest;
  };
  struct Truth {
    std::map<uint64_t, Opened> opened;
    std::map<std::pair<uint64_t, uint64_t>, uint64_t> fate;
    std::vector<TruePart> parts;
    uint64_t staleness_max = 0;
    bool ended = false;
    bool paused = false;
    int32_t priority = 0;
    std::set<std::string> begun_on;
  };
  std::map<JobId, Truth> truth_;
  std::map<std::string, WorkerIntent> intents_;
  std::set<std::pair<JobId, Sequence>> lied_;
  std::string broken_;
  uint64_t crashes_ = 0;
  uint64_t kills_ = 0;
  uint64_t snapshots_ = 0;
  uint64_t pauses_ = 0;
  uint64_t marks_ = 0;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_TESTING_SCRIPTED_WORLD_H_
