// tests/exhaustive/frame_model.h
//
// Models one exchange with the workers' real fragments. Each frame, each piece
// of background work and each order of a coordinator that follows the protocol
// may take any time. A copy of the model is made by repeating its steps.
#ifndef SKERRY_TESTS_EXHAUSTIVE_FRAME_MODEL_H_
#define SKERRY_TESTS_EXHAUSTIVE_FRAME_MODEL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tests/exhaustive/frame_worker.h"
#include "tests/sim/check/violations.h"

namespace skerry::exhaustive {

struct FrameBudget {
  // Attempts after the first that are opened while somebody could still act.
  int reopens = 0;
  // Frames that arrive again after they were taken.
  int repeats = 0;
  // Replicas that are killed.
  int kills = 0;
  // Commits without some member's report.
  int majorities = 0;
};

struct FrameScenario {
  struct Place {
    uint32_t replica = 0;
    uint32_t begin = 0;
    uint32_t end = 0;
  };
  // The replica and the spans of each worker.
  std::vector<Place> places;
  // Elements of each span.
  std::vector<uint64_t> spans;
  protocol::Hops hops = protocol::Hops::kTwo;
  std::string codec = "raw_f32";
  // Encoding, summing, storing and fetching end when the model says so.
  // Otherwise they are done at once.
  bool slow_work = true;
  FrameBudget budget;
};

struct FrameStep {
  enum class Act {
    kFrame,   // `index` of those on their way
    kAgain,   // one that was taken comes again
    kWork,    // work `at` of worker `index` is done
    kHear,    // worker `index` hears the newest orders
    kWait,    // it tries again
    kReopen,  // without replica `index`, or with all
    kCommit,
    kKill,  // replica `index`
  };
  Act act = Act::kFrame;
  size_t index = 0;
  size_t at = 0;
};

class FrameModel {
 public:
  using Step = FrameStep;

  // `found` outlives the model and all its copies.
  FrameModel(const FrameScenario& scenario, sim::Violations& found);
  FrameModel(const FrameModel& other);
  FrameModel& operator=(const FrameModel&) = delete;

  std::vector<FrameStep> Actions(bool with_faults) const;
  void Do(const FrameStep& step);
  uint64_t Hash() const;
  bool IsBehindBounds() const { return false; }
  bool RunsToItsEnd(std::vector<std::string>* way);
  static bool IsFault(const FrameStep& step);
  static std::string ToText(const FrameStep& step);

 private:
  // Attempt, kind, sender's worker, receiver, span, part.
  using Key =
      std::tuple<uint64_t, int, std::string, std::string, uint32_t, uint32_t>;
  struct OnWay {
    std::string from;
    SentFrame frame;
  };
  struct Host {
    std::unique_ptr<FrameWorker> worker;
    uint64_t heard = 0;
    // The newest that it has heard of and is named in.
    Attempt attempt;
    // Parts of the attempt that it is in.
    std::set<Key> taken;
    // As they were when the contribution was ready.
    std::vector<worker::Values> owed;
  };

  static Key KeyOf(const OnWay& one);
  void Start();
  void Apply(const FrameStep& step);
  void Open(std::optional<uint32_t> without);
  void Commit();
  uint32_t replicas() const { return scenario_.places.back().replica + 1; }
  std::vector<protocol::SpanHolder> HoldersOf(uint32_t replica) const;
  protocol::Member MemberOf(uint32_t replica) const;
  bool IsAlive(uint32_t replica) const { return !dead_.contains(replica); }
  bool IsUp(size_t host) const {
    return IsAlive(scenario_.places[host].replica);
  }
  bool IsMember(const protocol::OpenExchange& open, uint32_t replica) const;
  bool HasStored(size_t host, Attempt attempt) const;
  // By span: how many members of living replicas have reported, and how many
  // have not.
  std::pair<size_t, size_t> ReportsOf(uint32_t span) const;
  bool CanCommit(bool by_majority) const;
  protocol::FragmentOrders OrdersFor(size_t host) const;
  bool IsStale(const OnWay& one) const;
  void Take(OnWay one, bool again);
  void AddFrames(bool with_faults, std::vector<FrameStep>& to) const;
  void AddDecisions(bool with_faults, std::vector<FrameStep>& to) const;
  void HashKeys(std::vector<Key> keys, uint64_t& hash) const;
  size_t IndexOf(const std::string& name) const;
  bool IsDone() const;

  void Check();
  void CheckStored(size_t host);
  void CheckOwed(size_t host);
  void CheckConserved();
  void Break(const std::string& what) { found_->Add(what); }

  const FrameScenario scenario_;
  sim::Violations* found_;
  FrameJob job_;
  FrameWorker::Peers peers_;
  FrameBudget left_;
  std::vector<FrameStep> log_;
  std::vector<Host> hosts_;
  std::set<uint32_t> dead_;
  std::vector<OnWay> on_way_;
  std::vector<OnWay> past_;
  // By the coordinator's word, oldest first.
  std::vector<protocol::OpenExchange> attempts_;
  std::optional<protocol::CommittedEntry> committed_;
};

}  // namespace skerry::exhaustive

#endif  // SKERRY_TESTS_EXHAUSTIVE_FRAME_MODEL_H_
