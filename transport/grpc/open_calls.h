// transport/grpc/open_calls.h
//
// Counts calls that gRPC still owns, so that their owner can wait for the last.
#ifndef SKERRY_TRANSPORT_GRPC_OPEN_CALLS_H_
#define SKERRY_TRANSPORT_GRPC_OPEN_CALLS_H_

#include <condition_variable>
#include <mutex>

namespace skerry::transport {

// Any thread may call it.
class OpenCalls {
 public:
  void Add() {
    std::lock_guard<std::mutex> lock(mutex_);
    ++count_;
  }
  void Remove() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (--count_ == 0) none_.notify_all();
  }
  void AwaitNone() {
    std::unique_lock<std::mutex> lock(mutex_);
    none_.wait(lock, [this] { return count_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable none_;
  int count_ = 0;  // guarded by mutex_
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_OPEN_CALLS_H_
