// tests/sim/check/heard.h
//
// Checks that nobody acts on old news (PROTOCOL 1). A worker takes frames only
// of the attempt that orders have named, and never of an older one after a
// newer. Orders answer the newest Status.
#ifndef SKERRY_TESTS_SIM_CHECK_HEARD_H_
#define SKERRY_TESTS_SIM_CHECK_HEARD_H_

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include "simulator/observer.h"
#include "tests/sim/check/violations.h"

namespace skerry::sim {

class HeardChecker final : public Observer {
 public:
  // `out` outlives the checker.
  explicit HeardChecker(Violations& out) : out_(out) {}

  void OnStatusTaken(HostId from, uint64_t run,
                     const protocol::StatusFacts& status) override;
  void OnOrdersSaid(HostId to, const protocol::Orders& orders) override;
  void OnOrdersHeard(HostId host, uint64_t run,
                     const protocol::JobOrders& orders) override;
  void OnFrameTaken(HostId host, uint64_t run,
                    const compression::FrameHeader& header) override;

 private:
  // A fragment of a job.
  using Part = std::pair<JobId, uint32_t>;
  // The newest Status of a boot that a run of the coordinator has taken in.
  struct Status {
    uint64_t run = 0;
    Boot boot;
    uint64_t counter = 0;
    // With the attempt that made the state.
    std::map<Part, std::pair<Sequence, Attempt>> applied;
  };
  struct Attempts {
    Attempt heard;
    Attempt taken;
  };

  Violations& out_;
  std::map<HostId, Status> statuses_;
  // By host and run.
  std::map<std::tuple<HostId, uint64_t, Part>, Attempts> attempts_;
};

}  // namespace skerry::sim

#endif  // SKERRY_TESTS_SIM_CHECK_HEARD_H_
