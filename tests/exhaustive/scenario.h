// tests/exhaustive/scenario.h
//
// The bounds of a model: how large the cluster is, how much may go wrong in one
// history, and which part of a history is tried in every order.
#ifndef SKERRY_TESTS_EXHAUSTIVE_SCENARIO_H_
#define SKERRY_TESTS_EXHAUSTIVE_SCENARIO_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace skerry::exhaustive {

// How often each fault may happen in one history.
struct Budget {
  int coordinator_crashes = 0;
  // A worker's process is killed.
  int kills = 0;
  // A killed worker loses its disk.
  int disk_losses = 0;
  // The lease of a dead worker expires.
  int expiries = 0;
  // A timer of the coordinator fires while somebody could still act.
  int deadlines = 0;
  // A worker's older Status arrives again after a newer one.
  int late = 0;
  // A worker stores another result than that of the members.
  int lies = 0;
};

struct Scenario {
  // Island of each worker.
  std::vector<std::string> islands;
  uint32_t spans = 1;
  uint32_t fragments = 1;
  uint64_t samples = 2;
  uint32_t carry = 2;
  double quorum = 1;
  bool saves = false;
  // The job is a program's, whose trainers begin with other values each time
  // that they are started.
  bool program = false;
  // Workers store a base every so many sequences.
  uint64_t base_every = 1;
  // So far behind the newest sequence a pin still keeps results.
  uint64_t pin_max = 256;
  // Frames arrive one by one, and members say whose are there. Otherwise all
  // that a member sends is there once it has heard of the attempt.
  bool by_link = false;
  // A base is fetched span by span. Otherwise all of it at once.
  bool by_span = false;

  // Until every worker but the joiner is in a life and so much is committed,
  // one fixed order is taken; then each is tried. Unset: from the first Status.
  std::optional<uint64_t> begins_at = 0;
  // A worker that is down until then.
  std::optional<size_t> joiner;
  // Histories are not tried in every order behind so many commits more.
  uint64_t commits_max = 1000;
  Budget budget;
};

}  // namespace skerry::exhaustive

#endif  // SKERRY_TESTS_EXHAUSTIVE_SCENARIO_H_
