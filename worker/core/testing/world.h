// worker/core/testing/world.h
//
// Runs replicas of seats in one process: trainers of a quadratic loss, disks
// that outlive their worker, links that lose, repeat and reorder, and a
// coordinator that opens and commits by the book. Everything follows from one
// seed.
//
// After every event it compares the anchors of all workers at every sequence
// and checks conservation. failures() lists what was wrong.
#ifndef SKERRY_WORKER_CORE_TESTING_WORLD_H_
#define SKERRY_WORKER_CORE_TESTING_WORLD_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/random.h"
#include "planner/spans.h"
#include "worker/core/seat.h"

namespace skerry::worker {

using protocol::CommittedEntry;
using protocol::EvaluationOrder;
using protocol::GenerateOrder;
using protocol::Hops;
using protocol::JobPhase;
using protocol::OpenExchange;

struct WorldOptions {
  uint64_t seed = 1;
  JobSettings settings;
  uint64_t element_count = 10000;
  // The first element that is averaged; 0 when none is.
  uint64_t average_begin = 0;
  // By replica and rank: the spans each worker holds.
  std::vector<std::vector<std::pair<uint32_t, uint32_t>>> replicas;
  Hops hops = Hops::kTwo;
  // Drawn for each member of each attempt; empty: that of the settings.
  std::vector<compression::CodecId> codecs;
  // Drawn likewise, for results; empty: the member's own.
  std::vector<compression::CodecId> result_codecs;
  uint64_t part_bytes = 4096;
  double loss = 0.0;    // share of frames and orders that are lost
  double repeat = 0.0;  // share that come twice
  // A replica has leased no fewer rounds while there are samples.
  uint32_t rounds_ahead = 2;
  // What trainers can do, and whether they measure a loss.
  bool evaluates = true;
  bool generates = true;
  bool no_loss = false;
  // They have an inner state, which is how many runs it has behind it, and save
  // it in `inner_takes`.
  bool saves_inner = false;
  absl::Duration inner_takes = absl::Milliseconds(1);
  bool goes_on = false;  // from a checkpoint
  // The trainer of each worker begins with values of its own. Those of worker 0
  // are the job's.
  bool own_initial = false;
  double inner_rate = 0.05;
  double noise = 0.02;
  double own_share = 0.5;  // in every commit
};

class World {
 public:
  struct Worker;
  struct Replica {
    ReplicaId id;
    std::vector<uint32_t> workers;  // by rank
    Life life;
    data::RangeSet leased;
    // By fragment and round of this life.
    std::map<std::pair<uint32_t, uint64_t>, protocol::Outcome> outcomes;
    bool dormant = false;   // not admitted
    bool excluded = false;  // not named in a new attempt
  };

  // What was committed of one fragment.
  struct Part {
    std::vector<CommittedEntry> committed;
    std::optional<OpenExchange> open;
    Instant deadline;  // of the open attempt
    Sequence keep_from;
    double decoded_into_model = 0;
  };

  explicit World(WorldOptions options);
  ~World();

  // Runs events until `stop()` holds, at most `events_max`; whether it does.
  bool RunUntil(const std::function<bool()>& stop, int events_max = 400000);
  // All fragments, at all workers that are up.
  bool RunToSequence(uint64_t sequence);
  // A pause long enough for everything under way to end.
  void Settle() {
    RunUntil([] { return false; }, 4000);
  }

  void Kill(uint32_t worker);
  void Start(uint32_t worker, bool with_disk);
  // Gives the open attempt up and opens the next without `excluded`.
  void Reopen(std::vector<uint32_t> excluded);
  void FailTrainer(uint32_t worker);
  void SetDiskFull(uint32_t worker, bool full);

  Seat* seat(uint32_t worker);
  Replica& replica(uint32_t index) { return replicas_[index]; }
  Sequence newest(uint32_t fragment = 0) const {
    return Sequence(parts_[fragment].committed.size());
  }
  const std::vector<CommittedEntry>& committed(uint32_t fragment = 0) const {
    return parts_[fragment].committed;
  }
  const std::optional<OpenExchange>& open(uint32_t fragment = 0) const {
    return parts_[fragment].open;
  }
  uint32_t fragments() const { return static_cast<uint32_t>(parts_.size()); }
  // The spans of each fragment.
  std::vector<std::vector<planner::SpanRange>> Cut() const;
  // Elements of the model in a fragment.
  ElementRange ElementsOf(uint32_t fragment) const;
  const std::vector<std::string>& failures() const { return failures_; }
  // Frames that a seat has taken twice.
  uint64_t parts_repeated() const { return parts_repeated_; }
  // Results whose pieces were all given to the disk before they were stored.
  uint64_t results_ahead() const { return results_ahead_; }
  // The last lines that the worker's seat said, over all its lives.
  std::vector<std::string> LastEvents(uint32_t worker) const;
  uint32_t replica_count() const {
    return static_cast<uint32_t>(replicas_.size());
  }
  uint32_t worker_count() const {
    return static_cast<uint32_t>(workers_.size());
  }
  void PauseOpening(bool paused) { opening_paused_ = paused; }
  void set_phase(JobPhase phase) { phase_ = phase; }
  void set_job_paused(bool paused) { job_paused_ = paused; }
  // Nothing more is granted.
  void set_nothing_left(bool nothing) { nothing_left_ = nothing; }
  void AskEvaluation(EvaluationOrder order) { evaluations_.push_back(order); }
  void AskGeneration(GenerateOrder order) { generations_.push_back(order); }
  JobOrders OrdersFor(uint32_t worker) const;
  Revision revision() const { return Revision(revision_); }
  Instant now() const { return now_; }
  // Sum over all commits of W * decoded mean, over all elements.
  double decoded_into_model(uint32_t fragment = 0) const {
    return parts_[fragment].decoded_into_model;
  }
  // A text in which every hash and outcome of the run appears.
  const std::string& log() const { return log_; }

  float Target(uint32_t replica, uint64_t element) const;
  // One run's effect on live values, as the trainers do it.
  void Train(uint32_t replica, const data::RangeSet& ranges, uint64_t batch,
             std::vector<float>& live) const;
  static float InitialValue(uint64_t element);
  // Names the initial values of the worker's trainer, with `own_initial`.
  static uint64_t InitialHash(uint32_t worker) { return 100 + worker; }

  // --- For the ports. ---
  void After(absl::Duration least, std::function<void()> task);
  void Deliver(uint32_t from, const std::string& name,
               const compression::FrameHeader& header, SharedBytes payload);
  Random& random() { return random_; }
  const WorldOptions& options() const { return options_; }
  Worker* Find(const std::string& name);
  Worker& worker(uint32_t index) { return *workers_[index]; }

 private:
  void Tick();
  void Coordinate();
  void Admit(Replica& replica);
  void Grant(Replica& replica);
  void OpenAttempt(uint32_t fragment);
  void Replace(uint32_t fragment);
  void Commit(uint32_t fragment);
  void SendOrders();
  protocol::FragmentOrders FragmentOrdersFor(
      const Worker& worker, const Replica& replica, uint32_t fragment,
      const protocol::FragmentFacts& own) const;
  double Decoded(uint32_t fragment, const CommittedEntry& entry);
  void EndLife(Replica& replica);
  Sequence KeepFrom(uint32_t fragment);
  void Check();
  std::optional<protocol::Contribution> ReadyOf(const Replica& replica,
                                                uint32_t fragment);
  std::vector<protocol::SpanHolder> HoldersOf(const Replica& replica) const;
  void Log(const std::string& line) { log_ += line + "\n"; }

  const WorldOptions options_;
  Random random_;
  Instant now_{absl::Seconds(1)};
  std::multimap<Instant, std::function<void()>> events_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Replica> replicas_;
  uint64_t revision_ = 0;
  uint64_t parts_repeated_ = 0;
  uint64_t results_ahead_ = 0;
  JobPhase phase_ = JobPhase::kRunning;
  bool job_paused_ = false;
  bool nothing_left_ = false;
  data::RangeSet free_;
  data::RangeSet consumed_;
  std::vector<Part> parts_;
  bool opening_paused_ = false;
  std::vector<EvaluationOrder> evaluations_;
  std::vector<GenerateOrder> generations_;
  // By fragment, span and sequence.
  std::map<std::tuple<uint32_t, uint32_t, uint64_t>, uint64_t> anchors_;
  std::vector<std::string> failures_;
  std::string log_;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_TESTING_WORLD_H_
