#include "runtime/posix/posix_loop.h"

#include "base/check.h"
#include "runtime/posix/monotonic_clock.h"
#include "runtime/posix/thread_name.h"

namespace skerry::runtime {
PosixLoop::PosixLoop(const std::string& name) {
  thread_ = std::thread([this, name] {
    NameThisThread(name);
    Main();
  });
}

PosixLoop::~PosixLoop() { Stop(); }

Instant PosixLoop::Now() const { return MonotonicNow(); }

void PosixLoop::Post(Task task) {
  {
    const MutexLock lock(mutex_);
    if (closed_) return;
    posted_.push_back(std::move(task));
    if (posted_.size() > 1) return;
  }
  wake_.NotifyOne();
}

void PosixLoop::RunAt(Instant when, Task task) {
  SKERRY_CHECK(std::this_thread::get_id() == thread_.get_id());
  timers_.emplace(TimerKey(when, timers_made_++), std::move(task));
}

void PosixLoop::Stop() {
  if (!thread_.joinable()) return;
  SKERRY_CHECK(std::this_thread::get_id() != thread_.get_id());
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.NotifyOne();
  thread_.join();
}

void PosixLoop::RunTimers() {
  // Timers armed by these tasks wait for the next turn, so that one which arms
  // itself for now cannot keep posted tasks from running.
  const TimerKey end(Now(), timers_made_);
  while (!timers_.empty() && timers_.begin()->first < end) {
    Task task = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    std::move(task)();
  }
}

void PosixLoop::Main() {
  std::deque<Task> batch;
  for (;;) {
    {
      const MutexLock lock(mutex_);
      while (posted_.empty() && !stopping_) {
        if (timers_.empty()) {
          wake_.Wait(mutex_);
        } else if (!wake_.WaitUntil(mutex_, timers_.begin()->first.first)) {
          break;
        }
      }
      batch.swap(posted_);
      if (batch.empty() && stopping_) {
        closed_ = true;
        break;
      }
    }
    while (!batch.empty()) {
      Task task = std::move(batch.front());
      batch.pop_front();
      std::move(task)();
    }
    RunTimers();
  }
  timers_.clear();
}

}  // namespace skerry::runtime
