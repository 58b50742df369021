// tests/sim/check/heard.h
//
// Checks that nobody acts on old news (PROTOCOL 1). A worker takes frames only
// of the attempt that orders have named, and never of an older one after a
// newer. Orders answer the newest Status, and name the state that an operator
// kept as the journal has it (5.9).
#ifndef SKERRY_TESTS_SIM_CHECK_HEARD_H_
#define SKERRY_TESTS_SIM_CHECK_HEARD_H_

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "simulator/observer.h"
#include "tests/sim/check/violations.h"

namespace skerry::sim {

class HeardChecker final : public Observer {
 public:
  // `out` outlives the checker.
  explicit HeardChecker(Violations& out) : out_(out) {}

  void OnDurable(const coordinator::Entry& entry) override;
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

  // Checks what orders say of a kept state. Whether the worker's state is lost
  // by that.
  bool IsGivenUp(HostId to, const Part& part, const protocol::KeptState& kept,
                 const std::pair<Sequence, Attempt>& applied);

  Violations& out_;
  // By job and record, the sequences of the fragments that an operator kept.
  std::map<std::pair<JobId, Attempt>, std::vector<Sequence>> kept_;
  std::map<HostId, Status> statuses_;
  // By host and run.
  std::map<std::tuple<HostId, uint64_t, Part>, Attempts> attempts_;
};

}  // namespace skerry::sim

#endif  // SKERRY_TESTS_SIM_CHECK_HEARD_H_
