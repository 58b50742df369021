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
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void PosixExecutor::Run(Task task) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  wake_.notify_one();
}

void PosixExecutor::Main(const std::string& name) {
  NameThisThread(name);
  for (;;) {
    Task task;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    std::move(task)();
  }
}

}  // namespace skerry::runtime
