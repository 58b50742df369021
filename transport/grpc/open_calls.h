// transport/grpc/open_calls.h
//
// Counts calls that gRPC still owns, so that their owner can wait for the last.
#ifndef SKERRY_TRANSPORT_GRPC_OPEN_CALLS_H_
#define SKERRY_TRANSPORT_GRPC_OPEN_CALLS_H_

#include "absl/base/thread_annotations.h"
#include "runtime/posix/mutex.h"

namespace skerry::transport {

// Any thread may call it.
class OpenCalls {
 public:
  void Add() {
    const runtime::MutexLock lock(mutex_);
    ++count_;
  }
  void Remove() {
    const runtime::MutexLock lock(mutex_);
    if (--count_ == 0) none_.NotifyAll();
  }
  void AwaitNone() {
    const runtime::MutexLock lock(mutex_);
    while (count_ != 0) none_.Wait(mutex_);
  }

 private:
  runtime::Mutex mutex_;
  runtime::CondVar none_;
  int count_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_OPEN_CALLS_H_
