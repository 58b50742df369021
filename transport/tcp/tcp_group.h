// transport/tcp/tcp_group.h
//
// A group of processes on several hosts, each with a TCP connection to every
// other. What passes between them is not encrypted (docs/security.md).
#ifndef SKERRY_TRANSPORT_TCP_TCP_GROUP_H_
#define SKERRY_TRANSPORT_TCP_TCP_GROUP_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/posix/mutex.h"
#include "transport/group.h"
#include "transport/rendezvous.h"
#include "transport/tcp/call_flow.h"
#include "transport/tcp/sockets.h"
#include "transport/tcp/tcp_listener.h"
#include "transport/tcp/tcp_meeting.h"

namespace skerry::transport {

inline constexpr int kTcpGroupRanksMax = 64;

struct TcpGroupOptions {
  TcpRendezvous rendezvous;
  int rank = 0;
  int size = 1;
  // Where this member waits for others; at rank 0 what the rendezvous names.
  std::unique_ptr<TcpListener> listener;
  // How long a call waits while nothing comes and nothing goes.
  absl::Duration timeout = absl::Seconds(60);
};

// Members meet in the background, from Open() on; the first call waits for
// that. Every call begins with a header to each other member, and what belongs
// to the call follows at once. A member that dies ends the group for the others
// with their next bytes, and Abort() ends it for all.
class TcpGroup final : public Group {
 public:
  // Does not wait for the others. Errors: InvalidArgument, a rank, size or
  // timeout out of range; ResourceExhausted, the kernel has no more
  // descriptors.
  static absl::StatusOr<std::unique_ptr<TcpGroup>> Open(
      TcpGroupOptions options);
  // Closes the connections.
  ~TcpGroup() override;
  TcpGroup(const TcpGroup&) = delete;
  TcpGroup& operator=(const TcpGroup&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  absl::Status AllReduceSum(std::span<float> values) override;
  absl::Status Broadcast(std::span<float> values, int root) override;
  absl::Status AllToAll(std::span<const std::byte> to,
                        std::span<std::byte> from) override;
  absl::Status AllGather(std::span<const std::byte> piece,
                         std::span<std::byte> all) override;
  absl::Status Barrier() override;
  void Abort() override;

 private:
  static constexpr size_t kHeaderBytes = 24;
  using Header = std::array<std::byte, kHeaderBytes>;
  struct Call {
    uint32_t kind = 0;
    uint32_t root = 0;
    uint64_t count = 0;
  };
  class Courier;

  TcpGroup(TcpGroupOptions options, OwnedFd stop);

  static Header EncodeHeader(const Call& call);
  // Waits until the members have met. Errors: Aborted, DeadlineExceeded.
  absl::Status AwaitMembers();
  // Makes this member's part of a call.
  absl::Status Make(const Call& call, CallFlow& flow);
  // Ends the group: a call that cannot be.
  absl::Status Refuse(const std::string& why);
  // Ends the group with its first error, and returns that, or Aborted where
  // another one came before.
  absl::Status End(absl::Status why);
  absl::Status over();

  const int rank_;
  const int size_;
  const absl::Duration timeout_;
  const OwnedFd stop_;  // readable once the group is over
  ReduceStaging staging_;
  std::unique_ptr<TcpMeeting> meeting_;

  runtime::Mutex mutex_;
  runtime::CondVar met_;
  bool has_met_ ABSL_GUARDED_BY(mutex_) = false;
  // By rank. Filled under the mutex when the members have met, and not changed
  // any more.
  std::vector<OwnedFd> connections_;
  absl::Status over_ ABSL_GUARDED_BY(mutex_);
  std::thread meets_;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_TCP_TCP_GROUP_H_
