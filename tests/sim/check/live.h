// tests/sim/check/live.h
//
// Checks live parameters (docs/outer_loop.md). When inner steps begin, they are
// the anchor without the kept share of what the replica has on its way, plus
// the progress since the boundary. Under a rule that mixes, what is kept is
// that share of the way from the anchor to where the last round ended. A
// contribution is the progress of its round and nothing else. The progress is
// counted from the trainer's own values, so that it does not matter when a
// result was applied. Averaged values are the anchor when the first steps
// behind a boundary begin, and stay as the trainer left them until the next
// one.
#ifndef SKERRY_TESTS_SIM_CHECK_LIVE_H_
#define SKERRY_TESTS_SIM_CHECK_LIVE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "optimizer/outer/outer_options.h"
#include "planner/spans.h"
#include "simulator/observer.h"
#include "tests/sim/check/violations.h"

namespace skerry::sim {

class LiveChecker final : public Observer {
 public:
  // `out` outlives the checker.
  explicit LiveChecker(Violations& out) : out_(out) {}

  void OnDurable(const coordinator::Entry& entry) override;
  // What was committed is not known any more, so it says nothing from now on.
  void OnJournalReplaced(Revision last) override { silent_ = true; }
  void OnLive(const LiveSight& sight) override;
  void OnSeat(const SeatSight& sight) override;

 private:
  struct Job {
    optimizer::OuterOptions outer;
    uint32_t fragments = 1;
    uint32_t spans = 1;
    // By fragment and span; empty before the size is known.
    std::vector<std::vector<planner::SpanRange>> cut;
    // The first element that is averaged, or behind all elements.
    uint64_t average_begin = 0;
  };
  struct Part {
    std::optional<Round> ready;  // as last seen
    // The progress of the newest contribution, by element of the model, until
    // its result is applied; empty when nothing is on its way.
    std::vector<double> on_way;
    // The live values at the end of that contribution's round.
    std::vector<float> ended;
    // No steps were taken since the boundary.
    bool at_anchor = true;
  };
  struct Trainee {
    Life life;
    bool begins = false;
    std::vector<float> begin;
    std::vector<float> end;  // of the steps before
    // Since the boundary of each element's fragment.
    std::vector<double> progress;
    // The largest size that each element has had.
    std::vector<float> largest;
    std::vector<Part> parts;
  };

  void TakeBoundary(const FragmentSight& sight, const Job& job, Trainee& one);
  void Check(const FragmentSight& sight, const Job& job, Trainee& one);
  void CheckAverages(const FragmentSight& sight, const Job& job, Trainee& one);
  // Whether the result is in the state at `applied`, and whether the
  // contribution was dropped.
  bool IsBack(const FragmentSight& sight, Round round) const;
  bool IsDropped(const FragmentSight& sight, Round round) const;
  // The shares that a worker may have kept of what is on its way.
  std::vector<double> Shares(const FragmentSight& sight, const Job& job) const;

  Violations& out_;
  bool silent_ = false;
  std::map<JobId, Job> jobs_;
  // By run and job.
  std::map<std::tuple<HostId, uint64_t, JobId>, Trainee> trainees_;
  std::map<Attempt, coordinator::Opened> attempts_;
  using Offer = std::tuple<JobId, Life, Round>;
  std::map<Offer, Sequence> committed_;
  std::set<Offer> dropped_;
  // RoundScalars::own_share by job, fragment and sequence.
  std::map<std::tuple<JobId, uint64_t, Sequence>, double> shares_;
};

}  // namespace skerry::sim

#endif  // SKERRY_TESTS_SIM_CHECK_LIVE_H_
