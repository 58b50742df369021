// compression/testing/backward_executor.h
//
// Runs loops from the last index to the first and says that it has several
// threads. So tests without threads find code that depends on the order or on
// where parts are cut.
#ifndef SKERRY_COMPRESSION_TESTING_BACKWARD_EXECUTOR_H_
#define SKERRY_COMPRESSION_TESTING_BACKWARD_EXECUTOR_H_

#include <cstddef>

#include "absl/functional/function_ref.h"
#include "base/executor.h"

namespace skerry::compression {

class BackwardExecutor final : public ParallelExecutor {
 public:
  explicit BackwardExecutor(int threads) : threads_(threads) {}

  int thread_count() const override { return threads_; }
  void ForEach(size_t count,
               absl::FunctionRef<void(size_t index)> body) override {
    for (size_t i = count; i > 0; --i) body(i - 1);
  }

 private:
  const int threads_;
};

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_TESTING_BACKWARD_EXECUTOR_H_
