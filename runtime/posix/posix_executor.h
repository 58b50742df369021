// runtime/posix/posix_executor.h
//
// Runs work on a fixed number of named threads for one purpose: disk, codecs,
// files.
#ifndef SKERRY_RUNTIME_POSIX_POSIX_EXECUTOR_H_
#define SKERRY_RUNTIME_POSIX_POSIX_EXECUTOR_H_

#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "runtime/executor.h"
#include "runtime/posix/mutex.h"

namespace skerry::runtime {

// With one thread, tasks run in the order of Run().
class PosixExecutor final : public Executor {
 public:
  // Threads are called `name`-0, `name`-1, ...; `thread_count` >= 1.
  PosixExecutor(const std::string& name, int thread_count);
  ~PosixExecutor() override;
  PosixExecutor(const PosixExecutor&) = delete;
  PosixExecutor& operator=(const PosixExecutor&) = delete;

  void Run(Task task) override;

 private:
  void Main(const std::string& name);

  Mutex mutex_;
  CondVar wake_;
  std::deque<Task> tasks_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_POSIX_POSIX_EXECUTOR_H_
