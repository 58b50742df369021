#include "simulator/timeline.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace skerry::sim {

void Timeline::At(Instant when, Task task) {
  auto slot = static_cast<uint32_t>(tasks_.size());
  if (free_slots_.empty()) {
    tasks_.push_back(std::move(task));
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
    tasks_[slot] = std::move(task);
  }
  heap_.push_back({std::max(when, now_), ++made_, slot});
  std::push_heap(heap_.begin(), heap_.end(), Later());
}

Instant Timeline::next() const {
  return heap_.empty() ? Instant(absl::InfiniteDuration()) : heap_.front().when;
}

void Timeline::RunNext() {
  SKERRY_CHECK(!heap_.empty());
  std::pop_heap(heap_.begin(), heap_.end(), Later());
  const Event event = heap_.back();
  heap_.pop_back();
  now_ = event.when;
  ++count_;
  Task task = std::move(tasks_[event.slot]);
  free_slots_.push_back(event.slot);
  std::move(task)();
}

}  // namespace skerry::sim
