// runtime/testing/manual_loop.h
//
// Runs an event loop whose time moves only when a test says so.
#ifndef SKERRY_RUNTIME_TESTING_MANUAL_LOOP_H_
#define SKERRY_RUNTIME_TESTING_MANUAL_LOOP_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/container/btree_map.h"
#include "runtime/event_loop.h"

namespace skerry::runtime {

// Tasks run inside the Run... and Advance... calls, on the caller's thread.
// Post() may come from any thread.
class ManualLoop final : public EventLoop {
 public:
  Instant Now() const override { return now_; }
  void Post(Task task) override;
  void RunAt(Instant when, Task task) override;

  // Runs what is posted or due until nothing is; returns how many tasks ran.
  // Stops the process after a million: the tasks feed each other.
  size_t RunUntilIdle();
  // Moves time to `when`, stopping at every timer on the way to run it and what
  // follows from it. Returns how many tasks ran.
  size_t AdvanceTo(Instant when);
  size_t Advance(absl::Duration step) { return AdvanceTo(now_ + step); }
  // Moves time to `when` and runs nothing, as when the process was stopped.
  void SleepUntil(Instant when);
  // When the next timer is due; none when there is no timer.
  std::optional<Instant> NextTimer() const;

 private:
  bool RunOne();

  Instant now_;
  uint64_t timers_made_ = 0;
  absl::btree_map<std::pair<Instant, uint64_t>, Task> timers_;
  std::mutex mutex_;
  std::deque<Task> posted_;  // guarded by mutex_
};

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_TESTING_MANUAL_LOOP_H_
