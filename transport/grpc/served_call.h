// transport/grpc/served_call.h
//
// What all calls of a bulk server share: gRPC's part in the ownership, and
// ending once.
#ifndef SKERRY_TRANSPORT_GRPC_SERVED_CALL_H_
#define SKERRY_TRANSPORT_GRPC_SERVED_CALL_H_

#include <grpcpp/generic/async_generic_service.h>

#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "runtime/posix/mutex.h"
#include "transport/grpc/buffers.h"
#include "transport/grpc/open_calls.h"

namespace skerry::transport {

// `Call` derives from it and has OnBegin() and OnEnd().
template <typename Call>
class ServedCall : public grpc::ServerGenericBidiReactor {
 public:
  // Hands a new call to gRPC.
  static grpc::ServerGenericBidiReactor* Begin(std::shared_ptr<Call> call) {
    Call* raw = call.get();
    raw->open_calls_.Add();
    raw->self_ = std::move(call);
    raw->OnBegin();
    return raw;
  }

  // Any thread. Later calls do nothing; nor may anything be read or written
  // after it.
  void End(const absl::Status& status) {
    {
      const runtime::MutexLock lock(mutex_);
      if (has_ended_) return;
      has_ended_ = true;
    }
    Finish(ToGrpc(status));
  }

 protected:
  explicit ServedCall(OpenCalls& open_calls) : open_calls_(open_calls) {}

  void OnCancel() override { End(absl::CancelledError("cancelled")); }
  void OnDone() override {
    static_cast<Call*>(this)->OnEnd();
    OpenCalls& open_calls = open_calls_;
    { const std::shared_ptr<Call> self = std::move(self_); }
    open_calls.Remove();
  }
  const std::shared_ptr<Call>& self() const { return self_; }

  runtime::Mutex mutex_;
  bool has_ended_ ABSL_GUARDED_BY(mutex_) = false;

 private:
  OpenCalls& open_calls_;
  std::shared_ptr<Call> self_;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_SERVED_CALL_H_
