#include "runtime/posix/thread_pool.h"

#include <pthread.h>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace skerry::runtime {

ThreadPool::ThreadPool(const std::string& name, int thread_count) {
  SKERRY_CHECK(thread_count >= 1);
  for (int i = 1; i < thread_count; ++i) {
    threads_.emplace_back(
        [this, name = absl::StrCat(name, "-", i)] { Main(name); });
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

int ThreadPool::thread_count() const {
  return static_cast<int>(threads_.size()) + 1;
}

void ThreadPool::Work(Loop& loop) {
  for (size_t i = loop.next.fetch_add(1); i < loop.count;
       i = loop.next.fetch_add(1)) {
    loop.body(i);
  }
}

void ThreadPool::ForEach(size_t count,
                         absl::FunctionRef<void(size_t index)> body) {
  if (threads_.empty() || count <= 1) {
    for (size_t i = 0; i < count; ++i) body(i);
    return;
  }
  Loop loop{count, body};
  {
    const std::lock_guard lock(mutex_);
    SKERRY_CHECK(loop_ == nullptr);
    loop_ = &loop;
    ++loops_made_;
  }
  wake_.notify_all();
  Work(loop);
  std::unique_lock lock(mutex_);
  // A helper that wakes from now on finds no loop; those inside are awaited.
  loop_ = nullptr;
  idle_.wait(lock, [this] { return busy_ == 0; });
}

void ThreadPool::Main(const std::string& name) {
  pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
  uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] {
      return stopping_ || (loop_ != nullptr && loops_made_ != seen);
    });
    if (stopping_) return;
    seen = loops_made_;
    Loop& loop = *loop_;
    ++busy_;
    lock.unlock();
    Work(loop);
    lock.lock();
    if (--busy_ == 0) idle_.notify_one();
  }
}

}  // namespace skerry::runtime
