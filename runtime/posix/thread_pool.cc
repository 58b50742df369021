#include "runtime/posix/thread_pool.h"

#include <pthread.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace skerry::runtime {
namespace {

// Pauses before a thread sleeps: some ten microseconds at most, and a sixteenth
// where they are in vain, as with more threads than processors.
constexpr int kPausesMax = 1000;
constexpr int kPausesMin = kPausesMax / 16;

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

template <typename Holds>
void ThreadPool::Patience::Until(const Holds& holds) {
  for (int i = 0; i < pauses_; ++i) {
    if (holds()) {
      pauses_ = kPausesMax;
      return;
    }
    Pause();
  }
  pauses_ = std::max(pauses_ / 2, kPausesMin);
}

ThreadPool::ThreadPool(const std::string& name, int thread_count)
    : shares_(static_cast<size_t>(std::max(thread_count, 1))) {
  SKERRY_CHECK(thread_count >= 1);
  for (size_t i = 1; i < shares_.size(); ++i) {
    threads_.emplace_back(
        [this, i, name = absl::StrCat(name, "-", i)] { Main(name, i); });
  }
}

ThreadPool::~ThreadPool() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

int ThreadPool::thread_count() const {
  return static_cast<int>(threads_.size()) + 1;
}

void ThreadPool::Work(size_t thread, Body body) {
  for (size_t turn = 0; turn < shares_.size(); ++turn) {
    Share& share = shares_[(thread + turn) % shares_.size()];
    for (size_t i = share.next.fetch_add(1); i < share.end;
         i = share.next.fetch_add(1)) {
      body(i);
    }
  }
}

void ThreadPool::ForEach(size_t count,
                         absl::FunctionRef<void(size_t index)> body) {
  if (threads_.empty() || count <= 1) {
    for (size_t i = 0; i < count; ++i) body(i);
    return;
  }
  {
    const MutexLock lock(mutex_);
    SKERRY_CHECK(body_ == nullptr);
    size_t begin = 0;
    for (size_t i = 0; i < shares_.size(); ++i) {
      shares_[i].next = begin;
      begin += (count + i) / shares_.size();
      shares_[i].end = begin;
    }
    body_ = &body;
    ++loops_made_;
  }
  wake_.NotifyAll();
  Work(0, body);
  {
    // A helper that comes from now on finds no loop; those inside are awaited.
    const MutexLock lock(mutex_);
    body_ = nullptr;
  }
  const auto idle = [this] { return busy_ == 0; };
  patience_.Until(idle);
  const MutexLock lock(mutex_);
  while (!idle()) idle_.Wait(mutex_);
}

void ThreadPool::Main(const std::string& name, size_t thread) {
  pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
  uint64_t seen = 0;
  Patience patience;
  const auto called = [&] { return stopping_ || loops_made_ != seen; };
  while (true) {
    patience.Until(called);
    MutexLock lock(mutex_);
    while (!called()) wake_.Wait(mutex_);
    if (stopping_) return;
    seen = loops_made_;
    if (body_ == nullptr) continue;  // others were done before
    const Body body = *body_;
    ++busy_;
    lock.Unlock();
    Work(thread, body);
    lock.Lock();
    if (--busy_ == 0) idle_.NotifyOne();
  }
}

}  // namespace skerry::runtime
