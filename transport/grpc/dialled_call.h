// transport/grpc/dialled_call.h
//
// What the calls share that a worker opens for its peer to use in reverse:
// gRPC's part in the ownership, and ending once. The peer has a ServedCall.
#ifndef SKERRY_TRANSPORT_GRPC_DIALLED_CALL_H_
#define SKERRY_TRANSPORT_GRPC_DIALLED_CALL_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>

#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "runtime/posix/mutex.h"
#include "transport/grpc/buffers.h"
#include "transport/grpc/call_target.h"
#include "transport/grpc/open_calls.h"

namespace skerry::transport {

// `Call` derives from it and has OnBegin(), which may start reading, and
// OnEnd(why), after which gRPC has let go of the call.
template <typename Call>
class DialledCall
    : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  // Hands a new call to gRPC, which waits for the connection as long as it
  // takes.
  static void Begin(std::shared_ptr<Call> call,
                    const std::shared_ptr<grpc::Channel>& channel,
                    const char* method, const CallTarget& target) {
    Call* raw = call.get();
    raw->open_calls_.Add();
    raw->self_ = std::move(call);
    raw->context_.set_wait_for_ready(true);
    target.AddTo(raw->context_);
    grpc::GenericStub(channel).PrepareBidiStreamingCall(
        &raw->context_, method, grpc::StubOptions(), raw);
    // Writes start outside of reactions, so the call must not end under them.
    raw->AddHold();
    raw->OnBegin();
    raw->StartCall();
  }

  // Any thread, while somebody holds the call. Of several reasons the first
  // counts. Nothing may be read or written after it.
  void End(const absl::Status& why) {
    bool is_first = false;
    {
      const runtime::MutexLock lock(mutex_);
      is_first = !std::exchange(has_ended_, true);
      if (is_first) why_ = why;
    }
    context_.TryCancel();
    if (is_first) RemoveHold();
  }

 protected:
  explicit DialledCall(OpenCalls& open_calls) : open_calls_(open_calls) {}

  // For reactions: nothing more comes from the peer, and its status says why.
  void AwaitStatus() {
    {
      const runtime::MutexLock lock(mutex_);
      if (std::exchange(has_ended_, true)) return;
    }
    RemoveHold();
  }
  void OnDone(const grpc::Status& status) override {
    absl::Status why = FromGrpc(status);
    {
      const runtime::MutexLock lock(mutex_);
      if (!why_.ok()) why = why_;
    }
    if (why.ok()) why = absl::UnavailableError("the peer ended it");
    static_cast<Call*>(this)->OnEnd(why);
    OpenCalls& open_calls = open_calls_;
    { const std::shared_ptr<Call> self = std::move(self_); }
    open_calls.Remove();
  }
  const std::shared_ptr<Call>& self() const { return self_; }

  grpc::ClientContext context_;
  runtime::Mutex mutex_;
  bool has_ended_ ABSL_GUARDED_BY(mutex_) = false;

 private:
  OpenCalls& open_calls_;
  std::shared_ptr<Call> self_;
  absl::Status why_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_DIALLED_CALL_H_
