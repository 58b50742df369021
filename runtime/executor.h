// runtime/executor.h
//
// An executor runs work that would hold up an event loop.
#ifndef SKERRY_RUNTIME_EXECUTOR_H_
#define SKERRY_RUNTIME_EXECUTOR_H_

#include "runtime/event_loop.h"

namespace skerry::runtime {

// Runs tasks somewhere else, possibly several at a time and in any order.
class Executor {
 public:
  virtual ~Executor() = default;
  // May be called from any thread. Tasks left when the executor is destroyed
  // are run first.
  virtual void Run(Task task) = 0;
};

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_EXECUTOR_H_
