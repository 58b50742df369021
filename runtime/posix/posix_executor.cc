#include "runtime/posix/posix_executor.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "runtime/posix/thread_name.h"

namespace skerry::runtime {

PosixExecutor::PosixExecutor(const std::string& name, int thread_count) {
  SKERRY_CHECK(thread_count >= 1);
  for (int i = 0; i < thread_count; ++i) {
    threads_.emplace_back([this, thread_name = absl::StrCat(name, "-", i)] {
      Main(thread_name);
    });
  }
}

PosixExecutor::~PosixExecutor() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

void PosixExecutor::Run(Task task) {
  {
    const MutexLock lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  wake_.NotifyOne();
}

void PosixExecutor::Main(const std::string& name) {
  NameThisThread(name);
  for (;;) {
    Task task;
    {
      const MutexLock lock(mutex_);
      while (!stopping_ && tasks_.empty()) wake_.Wait(mutex_);
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    std::move(task)();
  }
}

}  // namespace skerry::runtime
