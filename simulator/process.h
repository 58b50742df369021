// simulator/process.h
//
// One run of a process on a simulated machine, with its event loop and its
// clock.
#ifndef SKERRY_SIMULATOR_PROCESS_H_
#define SKERRY_SIMULATOR_PROCESS_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/functional/any_invocable.h"
#include "base/instant.h"
#include "base/random.h"
#include "runtime/event_loop.h"
#include "simulator/timeline.h"

namespace skerry::sim {

// A machine's monotonic clock: it may be fast, slow, or leap ahead.
class Clock {
 public:
  Instant At(Instant moment) const;
  // The first moment at which the clock shows at least `shown`, within a few
  // nanoseconds.
  Instant When(Instant shown) const;

  void SetRate(Instant moment, double rate);
  void Leap(Instant moment, absl::Duration ahead);

 private:
  Instant moment_;
  Instant shown_;
  double rate_ = 1.0;
};

// Destroying it ends the process: none of its tasks runs any more.
class Process final : public runtime::EventLoop {
 public:
  // All outlive the process. `after_task` runs after each of its tasks.
  Process(Timeline& timeline, Random& random, const Clock& clock,
          absl::AnyInvocable<void()> after_task);

  Instant Now() const override { return clock_.At(timeline_.now()); }
  void Post(runtime::Task task) override;
  void RunAt(Instant when, runtime::Task task) override;

  // Nothing runs until Resume(); time goes on.
  void Pause() { paused_ = true; }
  void Resume();
  // Timers follow the clock.
  void ClockChanged();

  // Expires with the process.
  std::weak_ptr<char> alive() const { return alive_; }

 private:
  void Wake();
  void RunOne();
  void Arm();
  void FireTimers();

  Timeline& timeline_;
  Random& random_;
  const Clock& clock_;
  absl::AnyInvocable<void()> after_task_;
  bool paused_ = false;
  bool waking_ = false;
  std::deque<runtime::Task> ready_;
  uint64_t timers_made_ = 0;
  absl::btree_map<std::pair<Instant, uint64_t>, runtime::Task> timers_;
  // The wake-up on the timeline that counts; others find it changed.
  uint64_t armed_ = 0;
  Instant armed_for_{absl::InfiniteDuration()};
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace skerry::sim

#endif  // SKERRY_SIMULATOR_PROCESS_H_
