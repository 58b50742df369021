// simulator/timeline.h
//
// Runs all tasks of a simulation in one order.
#ifndef SKERRY_SIMULATOR_TIMELINE_H_
#define SKERRY_SIMULATOR_TIMELINE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "base/instant.h"

namespace skerry::sim {

// Keeps simulated time. No process sees it, because every process has a clock
// of its own.
class Timeline {
 public:
  using Task = absl::AnyInvocable<void() &&>;

  Instant now() const { return now_; }
  // How many tasks have run.
  uint64_t count() const { return count_; }

  // Tasks of one moment run in the order of the calls. A moment that has passed
  // is now.
  void At(Instant when, Task task);
  void After(absl::Duration wait, Task task) {
    At(now_ + wait, std::move(task));
  }
  // When the next task is due; InfiniteFuture when there is none.
  Instant next() const;
  // Runs it. Requires: there is one.
  void RunNext();

 private:
  // Small, because a heap moves its entries about: the task stays in its slot.
  struct Event {
    Instant when;
    uint64_t order = 0;
    uint32_t slot = 0;
  };
  // Heap order: the earliest on top.
  struct Later {
    bool operator()(const Event& a, const Event& b) const {
      return a.when == b.when ? a.order > b.order : a.when > b.when;
    }
  };

  Instant now_;
  uint64_t made_ = 0;
  uint64_t count_ = 0;
  std::vector<Event> heap_;
  std::vector<Task> tasks_;
  std::vector<uint32_t> free_slots_;
};

}  // namespace skerry::sim

#endif  // SKERRY_SIMULATOR_TIMELINE_H_
