// runtime/posix/posix_loop.h
//
// Runs the event loop of a real process on one named thread and the monotonic
// clock.
#ifndef SKERRY_RUNTIME_POSIX_POSIX_LOOP_H_
#define SKERRY_RUNTIME_POSIX_POSIX_LOOP_H_

#include <cstdint>
#include <deque>
#include <string>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "runtime/event_loop.h"
#include "runtime/posix/mutex.h"

namespace skerry::runtime {

// Post() may be called from any thread, RunAt() only from tasks of this loop,
// Now() from anywhere.
class PosixLoop final : public EventLoop {
 public:
  // Starts the thread; the kernel shows the first 15 characters of `name`.
  explicit PosixLoop(const std::string& name);
  // Stops.
  ~PosixLoop() override;
  PosixLoop(const PosixLoop&) = delete;
  PosixLoop& operator=(const PosixLoop&) = delete;

  Instant Now() const override;
  void Post(Task task) override;
  void RunAt(Instant when, Task task) override;

  // Runs every task posted so far and what those post, then ends the thread.
  // Timers not yet due and tasks posted later are destroyed unrun. Called from
  // another thread; a second call does nothing.
  void Stop();

 private:
  using TimerKey = std::pair<Instant, uint64_t>;

  void Main();
  // Runs the timers that are due.
  void RunTimers();

  // Touched by the loop's thread only.
  absl::btree_map<TimerKey, Task> timers_;
  uint64_t timers_made_ = 0;

  Mutex mutex_;
  CondVar wake_;
  std::deque<Task> posted_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;

  std::thread thread_;
};

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_POSIX_POSIX_LOOP_H_
