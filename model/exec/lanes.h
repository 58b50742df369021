// model/exec/lanes.h
//
// Cuts a loop among the threads of an executor. The cut depends only on the
// sizes and the thread count, so sums are always made in one order.
#ifndef SKERRY_MODEL_EXEC_LANES_H_
#define SKERRY_MODEL_EXEC_LANES_H_

#include <algorithm>
#include <cstddef>

#include "absl/functional/function_ref.h"
#include "base/executor.h"

namespace skerry::model {

class Lanes {
 public:
  explicit Lanes(ParallelExecutor& executor)
      : executor_(executor), count_(executor.thread_count()) {}

  int count() const { return count_; }

  // Calls body(lane, begin, end) for up to count() parts that cover
  // [0, total); all borders but the last are multiples of `grain`. No two
  // bodies have the same lane.
  void ForRange(
      size_t total, size_t grain,
      absl::FunctionRef<void(int lane, size_t begin, size_t end)> body) const {
    const size_t grains = (total + grain - 1) / grain;
    const size_t lanes = std::min(static_cast<size_t>(count_), grains);
    if (lanes <= 1) {
      if (total > 0) body(0, 0, total);
      return;
    }
    executor_.ForEach(lanes, [&](size_t lane) {
      const size_t begin = grains * lane / lanes * grain;
      const size_t end = std::min(total, grains * (lane + 1) / lanes * grain);
      body(static_cast<int>(lane), begin, end);
    });
  }

 private:
  ParallelExecutor& executor_;
  const int count_;
};

}  // namespace skerry::model

#endif  // SKERRY_MODEL_EXEC_LANES_H_
