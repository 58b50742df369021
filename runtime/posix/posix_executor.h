// runtime/posix/posix_executor.h
//
// Runs work on a fixed number of named threads for one purpose: disk, codecs,
// files.
#ifndef SKERRY_RUNTIME_POSIX_POSIX_EXECUTOR_H_
#define SKERRY_RUNTIME_POSIX_POSIX_EXECUTOR_H_

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/executor.h"

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

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Task> tasks_;  // guarded by mutex_
  bool stopping_ = false;   // guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_POSIX_POSIX_EXECUTOR_H_
