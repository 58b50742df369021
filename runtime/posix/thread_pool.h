// runtime/posix/thread_pool.h
//
// Runs parallel loops on threads of its own. A thread does not sleep between
// loops that follow each other within some ten microseconds, because waking it
// takes longer than many a loop. It begins with the same share of every loop of
// the same count, and so finds the values that it wrote in its own caches.
// Processors that are far apart do not share a last-level cache.
#ifndef SKERRY_RUNTIME_POSIX_THREAD_POOL_H_
#define SKERRY_RUNTIME_POSIX_THREAD_POOL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "base/executor.h"
#include "runtime/posix/mutex.h"

namespace skerry::runtime {

// The caller of ForEach works too, so `thread_count` threads run at once and
// thread_count - 1 are started. One ForEach at a time.
class ThreadPool final : public ParallelExecutor {
 public:
  // Threads are called `name`-1, `name`-2, ...; `thread_count` >= 1.
  ThreadPool(const std::string& name, int thread_count);
  ~ThreadPool() override;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int thread_count() const override;
  void ForEach(size_t count,
               absl::FunctionRef<void(size_t index)> body) override;

 private:
  // A run of consecutive indexes of a loop, which one thread begins with. A
  // thread that has finished its own share takes what is left of others'.
  struct alignas(64) Share {  // a cache line
    std::atomic<size_t> next{0};
    size_t end = 0;
  };

  // Looks for a while whether something holds, so that whoever waits for that
  // rarely sleeps first; for a shorter while after it was in vain.
  class Patience {
   public:
    template <typename Holds>
    void Until(const Holds& holds);

   private:
    int pauses_ = 0;  // the first wait sleeps at once
  };

  using Body = absl::FunctionRef<void(size_t)>;

  void Main(const std::string& name, size_t thread);
  void Work(size_t thread, Body body);

  Mutex mutex_;
  CondVar wake_;
  CondVar idle_;
  const Body* body_ ABSL_GUARDED_BY(mutex_) = nullptr;  // null between loops
  std::vector<Share> shares_;  // one for each thread, the caller's first
  // Changed under mutex_, and looked at without before anybody sleeps.
  std::atomic<uint64_t> loops_made_{0};
  std::atomic<int> busy_{0};  // helpers inside loop_
  std::atomic<bool> stopping_{false};
  Patience patience_;  // of the caller
  std::vector<std::thread> threads_;
};

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_POSIX_THREAD_POOL_H_
