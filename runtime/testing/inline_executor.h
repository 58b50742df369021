// runtime/testing/inline_executor.h
//
// Runs work without threads, for tests on one thread.
#ifndef SKERRY_RUNTIME_TESTING_INLINE_EXECUTOR_H_
#define SKERRY_RUNTIME_TESTING_INLINE_EXECUTOR_H_

#include <utility>

#include "runtime/executor.h"

namespace skerry::runtime {

// Runs each task on `loop`. So work still finishes later than it was asked for,
// as with real threads.
class LoopExecutor final : public Executor {
 public:
  explicit LoopExecutor(EventLoop& loop) : loop_(loop) {}
  void Run(Task task) override { loop_.Post(std::move(task)); }

 private:
  EventLoop& loop_;
};

// Runs each task before Run() returns.
class InlineExecutor final : public Executor {
 public:
  void Run(Task task) override { std::move(task)(); }
};

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_TESTING_INLINE_EXECUTOR_H_
