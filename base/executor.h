// base/executor.h
//
// Executors run the parallel loops of kernels and codecs. Kernels and codecs
// start no threads themselves; their caller chooses the executor.
#ifndef SKERRY_BASE_EXECUTOR_H_
#define SKERRY_BASE_EXECUTOR_H_

#include <cstddef>

#include "absl/functional/function_ref.h"

namespace skerry {

class ParallelExecutor {
 public:
  virtual ~ParallelExecutor() = default;
  // How many bodies may run at once, the caller's thread included; >= 1.
  virtual int thread_count() const = 0;
  // Calls body(i) for every i in [0, count), in any order and on any thread,
  // and returns when all have returned. Bodies must not call ForEach.
  virtual void ForEach(size_t count,
                       absl::FunctionRef<void(size_t index)> body) = 0;
};

// Runs everything on the calling thread.
class InlineExecutor final : public ParallelExecutor {
 public:
  int thread_count() const override { return 1; }
  void ForEach(size_t count,
               absl::FunctionRef<void(size_t index)> body) override {
    for (size_t i = 0; i < count; ++i) body(i);
  }
};

}  // namespace skerry

#endif  // SKERRY_BASE_EXECUTOR_H_
