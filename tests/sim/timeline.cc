#include "tests/sim/timeline.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace skerry::sim {

void Timeline::At(Instant when, Task task) {
  heap_.push_back({std::max(when, now_), ++made_, std::move(task)});
  std::push_heap(heap_.begin(), heap_.end(), Later);
}

Instant Timeline::next() const {
  return heap_.empty() ? Instant(absl::InfiniteDuration()) : heap_.front().when;
}

void Timeline::RunNext() {
  SKERRY_CHECK(!heap_.empty());
  std::pop_heap(heap_.begin(), heap_.end(), Later);
  Event event = std::move(heap_.back());
  heap_.pop_back();
  now_ = event.when;
  ++count_;
  std::move(event.task)();
}

}  // namespace skerry::sim
