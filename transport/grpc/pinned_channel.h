// transport/grpc/pinned_channel.h
//
// A channel to a coordinator of which only the public key of its CA is known,
// as a worker has it that joins.
#ifndef SKERRY_TRANSPORT_GRPC_PINNED_CHANNEL_H_
#define SKERRY_TRANSPORT_GRPC_PINNED_CHANNEL_H_

#include <grpcpp/channel.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/posix/mutex.h"

namespace skerry::transport {

// Why the server at the other end is not trusted. Any thread may call it.
class PinFault {
 public:
  void Set(absl::Status why) {
    const runtime::MutexLock lock(mutex_);
    why_ = std::move(why);
  }
  // OK until a handshake was refused.
  absl::Status why() const {
    const runtime::MutexLock lock(mutex_);
    return why_;
  }

 private:
  mutable runtime::Mutex mutex_;
  absl::Status why_ ABSL_GUARDED_BY(mutex_);
};

// TLS without a certificate of one's own. The chain that the server sends has
// to hold a CA with the pin `pin`, sha256:HEX, to lead to it and to name a
// coordinator; else calls are Unavailable and `fault` says why.
std::shared_ptr<grpc::Channel> PinnedChannel(const std::string& address,
                                             const std::string& pin,
                                             std::function<absl::Time()> wall,
                                             std::shared_ptr<PinFault> fault);

// Errors: FailedPrecondition, in one line.
absl::Status CheckPinnedServer(std::string_view chain_pem, std::string_view pin,
                               absl::Time now);

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_PINNED_CHANNEL_H_
