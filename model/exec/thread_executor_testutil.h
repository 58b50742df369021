// model/exec/thread_executor_testutil.h
//
// Runs each body on a thread of its own, so order and interleaving are up to
// the machine.
#ifndef SKERRY_MODEL_EXEC_THREAD_EXECUTOR_TESTUTIL_H_
#define SKERRY_MODEL_EXEC_THREAD_EXECUTOR_TESTUTIL_H_

#include <cstddef>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"
#include "base/executor.h"

namespace skerry::model {

class ThreadExecutor final : public ParallelExecutor {
 public:
  explicit ThreadExecutor(int threads) : threads_(threads) {}
  int thread_count() const override { return threads_; }
  void ForEach(size_t count, absl::FunctionRef<void(size_t)> body) override {
    std::vector<std::thread> running;
    for (size_t i = 0; i < count; ++i)
      running.emplace_back([&, i] { body(i); });
    for (std::thread& thread : running) thread.join();
  }

 private:
  const int threads_;
};

}  // namespace skerry::model

#endif  // SKERRY_MODEL_EXEC_THREAD_EXECUTOR_TESTUTIL_H_
