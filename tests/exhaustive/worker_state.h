// tests/exhaustive/worker_state.h
//
// What a worker of the model has in memory and on its disk.
#ifndef SKERRY_TESTS_EXHAUSTIVE_WORKER_STATE_H_
#define SKERRY_TESTS_EXHAUSTIVE_WORKER_STATE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/ids.h"
#include "data/sample_ranges.h"
#include "protocol/contribution.h"
#include "protocol/exchange.h"
#include "protocol/fragment_facts.h"
#include "protocol/job_facts.h"
#include "protocol/job_orders.h"
#include "protocol/status_facts.h"

namespace skerry::exhaustive {

struct SpanState {
  Sequence applied;
  uint64_t anchor = 0;
};

// A fragment of the model on a worker.
struct Part {
  // Those that have a state.
  std::map<uint32_t, SpanState> spans;
  // Committed entries that it has heard of.
  std::map<Sequence, protocol::CommittedEntry> known;
  std::optional<protocol::StoredResult> stored;
  std::optional<protocol::Contribution> ready;
  // Since the fragment's last boundary.
  data::RangeSet trained;
  bool at_boundary = false;
  // The newest that took something from here.
  Sequence outcome;
  // The coordinator keeps what it needs of others.
  bool pin_told = false;

  // Unset while no span has a state.
  std::optional<Sequence> Oldest() const {
    std::optional<Sequence> oldest;
    for (const auto& [span, state] : spans) {
      if (!oldest || state.applied < *oldest) oldest = state.applied;
    }
    return oldest;
  }
  bool IsLevel() const {
    for (const auto& [span, state] : spans) {
      if (state.applied != spans.begin()->second.applied) return false;
    }
    return !spans.empty();
  }
};

struct RunningRound {
  Round number;
  uint32_t turn = 0;
};

// The job on a worker.
struct Seat {
  bool is_there = false;
  protocol::JobOrders orders;
  Life life;
  // The newest that it has given up by itself.
  Life abandoned;
  uint32_t begin = 0;
  uint32_t end = 0;
  std::vector<Part> parts;
  std::optional<RunningRound> running;
  data::RangeSet used;
  Round newest;
  std::set<Sequence> evaluated;
  std::optional<protocol::CheckpointFact> saved;
  bool resting = false;

  // Unset unless every span has a state.
  std::optional<Sequence> Applied(uint32_t fragment) const {
    if (begin == end || parts[fragment].spans.size() != end - begin) {
      return std::nullopt;
    }
    return parts[fragment].Oldest();
  }
  // All that it holds has a state, of one sequence each.
  bool HasState() const {
    for (uint32_t f = 0; f < parts.size(); ++f) {
      if (!Applied(f).has_value() || !parts[f].IsLevel()) return false;
    }
    return !parts.empty();
  }
};

// By (fragment, sequence, span) and by (fragment, sequence, attempt, span).
struct Disk {
  std::map<std::tuple<uint32_t, uint64_t, uint32_t>, uint64_t> bases;
  std::map<std::tuple<uint32_t, uint64_t, uint64_t, uint32_t>, uint64_t>
      results;
};

struct WorkerState {
  std::string name;
  std::string island;
  bool alive = true;
  uint64_t starts = 0;
  Boot boot;
  Incarnation incarnation;
  uint64_t counter = 0;
  Seat seat;
  Disk disk;
  // Hashes of the Status that it sent last and of the Orders that it heard
  // last. Both are 0 after a new boot of the worker or a coordinator's crash.
  uint64_t told = 0;
  uint64_t heard = 0;
  // The Status that it sent last, and the one before, which may arrive again.
  std::optional<protocol::StatusFacts> last;
  std::optional<protocol::StatusFacts> before;
};

}  // namespace skerry::exhaustive

#endif  // SKERRY_TESTS_EXHAUSTIVE_WORKER_STATE_H_
