#include "runtime/testing/manual_loop.h"

#include "base/check.h"

namespace skerry::runtime {
namespace {

constexpr size_t kTasksMax = 1000000;

}  // namespace

void ManualLoop::Post(Task task) {
  std::lock_guard<std::mutex> lock(mutex_);
  posted_.push_back(std::move(task));
}

void ManualLoop::RunAt(Instant when, Task task) {
  timers_.emplace(std::pair(when, timers_made_++), std::move(task));
}

bool ManualLoop::RunOne() {
  Task task;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!posted_.empty()) {
      task = std::move(posted_.front());
      posted_.pop_front();
    }
  }
  if (!task) {
    if (timers_.empty() || timers_.begin()->first.first > now_) return false;
    task = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
  }
  std::move(task)();
  return true;
}

size_t ManualLoop::RunUntilIdle() {
  size_t count = 0;
  while (RunOne()) SKERRY_CHECK(++count < kTasksMax);
  return count;
}

size_t ManualLoop::AdvanceTo(Instant when) {
  size_t count = RunUntilIdle();
  while (!timers_.empty() && timers_.begin()->first.first <= when) {
    now_ = std::max(now_, timers_.begin()->first.first);
    count += RunUntilIdle();
  }
  now_ = std::max(now_, when);
  return count;
}

void ManualLoop::SleepUntil(Instant when) { now_ = std::max(now_, when); }

std::optional<Instant> ManualLoop::NextTimer() const {
  if (timers_.empty()) return std::nullopt;
  return timers_.begin()->first.first;
}

}  // namespace skerry::runtime
