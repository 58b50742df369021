#include "transport/tcp/tcp_group.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/instant.h"
#include "base/status.h"
#include "runtime/posix/monotonic_clock.h"
#include "runtime/posix/thread_name.h"

namespace skerry::transport {
namespace {

// Handed to the kernel at a time: as much as a second-level cache holds twice.
constexpr size_t kMoveBytes = 512 << 10;

enum CallKind : uint32_t {
  kBarrier = 1,
  kAllReduce = 2,
  kBroadcast = 3,
  kAllToAll = 4,
  kAllGather = 5,
};

absl::Status ValidateOptions(const TcpGroupOptions& options) {
  if (options.size < 1 || options.size > kTcpGroupRanksMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("a group over TCP has 1 to ", kTcpGroupRanksMax,
                     " members, not ", options.size));
  }
  if (options.rank < 0 || options.rank >= options.size) {
    return absl::InvalidArgumentError(absl::StrCat(
        "rank ", options.rank, " is not in a group of ", options.size));
  }
  if (options.timeout <= absl::ZeroDuration() ||
      options.timeout > absl::Hours(24)) {
    return absl::InvalidArgumentError(
        "the group's timeout must be above 0 and at most a day");
  }
  if (options.listener == nullptr) {
    return absl::InvalidArgumentError("a member of a group has to listen");
  }
  return absl::OkStatus();
}

template <typename Integer>
std::byte* Put(std::byte* at, Integer value) {
  for (size_t i = 0; i < sizeof(value); ++i) {
    *at++ = static_cast<std::byte>(value >> (8 * i) & 0xff);
  }
  return at;
}

// A call without values.
class NoFlow final : public CallFlow {
 public:
  std::span<const std::byte> ToSend(int) override { return {}; }
  void OnSent(int, size_t) override {}
  std::span<std::byte> ToReceive(int) override { return {}; }
  void OnReceived(int, size_t) override {}
  bool IsDone() const override { return true; }
};

}  // namespace

// Carries one call's header and bytes between the sockets and the flow.
class TcpGroup::Courier {
 public:
  enum class Found { kNothing, kMoved, kOtherCall, kGone };

  Courier(TcpGroup& group, const Header& header, CallFlow& flow)
      : group_(group),
        header_(header),
        flow_(flow),
        peers_(static_cast<size_t>(group.size_)) {}

  bool IsDone() const {
    for (int rank = 0; rank < group_.size_; ++rank) {
      const Peer& peer = peers_[static_cast<size_t>(rank)];
      if (rank != group_.rank_ &&
          (peer.sent < kHeaderBytes || peer.got < kHeaderBytes)) {
        return false;
      }
    }
    return flow_.IsDone();
  }

  // Moves what can be moved with that member.
  Found Move(int rank) {
    const Found sent = Send(rank);
    if (sent == Found::kGone) return sent;
    const Found received = Receive(rank);
    return received == Found::kNothing ? sent : received;
  }

  // Waits until something can be moved, or `left` is over. Returns whether
  // something may be.
  bool Wait(absl::Duration left) {
    std::vector<pollfd> waits = {{group_.stop_.get(), POLLIN, 0}};
    for (int rank = 0; rank < group_.size_; ++rank) {
      if (rank == group_.rank_) continue;
      const short events =
          static_cast<short>((ToReceive(rank).empty() ? 0 : POLLIN) |
                             (ToSend(rank).empty() ? 0 : POLLOUT));
      waits.push_back(
          {group_.connections_[static_cast<size_t>(rank)].get(), events, 0});
    }
    const int64_t ms = absl::ToInt64Milliseconds(
        std::min(left + absl::Milliseconds(1), absl::Seconds(60)));
    return poll(waits.data(), waits.size(), static_cast<int>(ms)) != 0;
  }

  // The first rank that this member waits for.
  int Awaited() {
    for (int rank = 0; rank < group_.size_; ++rank) {
      if (rank != group_.rank_ && !ToReceive(rank).empty()) return rank;
    }
    for (int rank = 0; rank < group_.size_; ++rank) {
      if (rank != group_.rank_ && !ToSend(rank).empty()) return rank;
    }
    return group_.rank_ == 0 ? 1 : 0;
  }

  std::string why_gone() const { return why_gone_; }

 private:
  struct Peer {
    size_t sent = 0;  // bytes of the header
    size_t got = 0;
    Header header;
  };

  std::span<const std::byte> ToSend(int rank) {
    const Peer& peer = peers_[static_cast<size_t>(rank)];
    if (peer.sent < kHeaderBytes) {
      return std::span<const std::byte>(header_).subspan(peer.sent);
    }
    return flow_.ToSend(rank);
  }

  std::span<std::byte> ToReceive(int rank) {
    Peer& peer = peers_[static_cast<size_t>(rank)];
    if (peer.got < kHeaderBytes) {
      return std::span<std::byte>(peer.header).subspan(peer.got);
    }
    return flow_.ToReceive(rank);
  }

  Found Send(int rank) {
    const std::span<const std::byte> bytes = ToSend(rank);
    if (bytes.empty()) return Found::kNothing;
    Peer& peer = peers_[static_cast<size_t>(rank)];
    const bool is_header = peer.sent < kHeaderBytes;
    // The header waits for what follows it at once.
    const int more = is_header && !flow_.ToSend(rank).empty() ? MSG_MORE : 0;
    const ssize_t n = send(group_.connections_[static_cast<size_t>(rank)].get(),
                           bytes.data(), std::min(bytes.size(), kMoveBytes),
                           MSG_NOSIGNAL | MSG_DONTWAIT | more);
    if (n < 0) return AfterError(errno);
    if (is_header) {
      peer.sent += static_cast<size_t>(n);
      if (more != 0 && peer.sent == kHeaderBytes) Send(rank);
    } else {
      flow_.OnSent(rank, static_cast<size_t>(n));
    }
    return Found::kMoved;
  }

  Found Receive(int rank) {
    const std::span<std::byte> bytes = ToReceive(rank);
    if (bytes.empty()) return Found::kNothing;
    const ssize_t n =
        recv(group_.connections_[static_cast<size_t>(rank)].get(), bytes.data(),
             std::min(bytes.size(), kMoveBytes), MSG_DONTWAIT);
    if (n < 0) return AfterError(errno);
    if (n == 0) {
      why_gone_ = "it has closed the connection";
      return Found::kGone;
    }
    Peer& peer = peers_[static_cast<size_t>(rank)];
    if (peer.got == kHeaderBytes) {
      flow_.OnReceived(rank, static_cast<size_t>(n));
      return Found::kMoved;
    }
    peer.got += static_cast<size_t>(n);
    if (peer.got < kHeaderBytes || peer.header == header_) {
      return Found::kMoved;
    }
    // It may have gone in the middle of an earlier call.
    pollfd gone{group_.connections_[static_cast<size_t>(rank)].get(), POLLRDHUP,
                0};
    if (poll(&gone, 1, 0) == 0) return Found::kOtherCall;
    why_gone_ = "it has closed the connection";
    return Found::kGone;
  }

  Found AfterError(int error) {
    if (error == EAGAIN || error == EWOULDBLOCK || error == EINTR) {
      return Found::kNothing;
    }
    why_gone_ = ErrorText(error);
    return Found::kGone;
  }

  TcpGroup& group_;
  const Header header_;
  CallFlow& flow_;
  std::vector<Peer> peers_;
  std::string why_gone_;
};

absl::StatusOr<std::unique_ptr<TcpGroup>> TcpGroup::Open(
    TcpGroupOptions options) {
  SKERRY_RETURN_IF_ERROR(ValidateOptions(options));
  OwnedFd stop(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop.is_open()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot open a group: ", ErrorText(errno)));
  }
  return std::unique_ptr<TcpGroup>(
      new TcpGroup(std::move(options), std::move(stop)));
}

TcpGroup::TcpGroup(TcpGroupOptions options, OwnedFd stop)
    : rank_(options.rank),
      size_(options.size),
      timeout_(options.timeout),
      stop_(std::move(stop)),
      meeting_(std::make_unique<TcpMeeting>(
          TcpMeetingOptions{.rendezvous = std::move(options.rendezvous),
                            .rank = options.rank,
                            .size = options.size,
                            .listener = std::move(options.listener),
                            .stop_fd = stop_.get()})) {
  meets_ = std::thread([this] {
    runtime::NameThisThread("group");
    absl::StatusOr<std::vector<OwnedFd>> met = meeting_->Run();
    const runtime::MutexLock lock(mutex_);
    has_met_ = true;
    if (over_.ok()) over_ = met.status();
    if (over_.ok()) connections_ = *std::move(met);
    // Closes what was not taken over, and the listener.
    meeting_.reset();
    met_.NotifyAll();
  });
}

TcpGroup::~TcpGroup() {
  Abort();
  meets_.join();
}

absl::Status TcpGroup::over() {
  const runtime::MutexLock lock(mutex_);
  return over_.ok() ? absl::OkStatus() : absl::AbortedError(over_.message());
}

void TcpGroup::Abort() {
  End(absl::AbortedError("the island's group was aborted")).IgnoreError();
}

absl::Status TcpGroup::End(absl::Status why) {
  const runtime::MutexLock lock(mutex_);
  if (!over_.ok()) return absl::AbortedError(over_.message());
  over_ = why;
  eventfd_write(stop_.get(), 1);
  // The others see it at once. A call of this member may still use them.
  for (const OwnedFd& connection : connections_) {
    if (connection.is_open()) shutdown(connection.get(), SHUT_RDWR);
  }
  met_.NotifyAll();
  return why;
}

absl::Status TcpGroup::Refuse(const std::string& why) {
  Abort();
  return absl::InvalidArgumentError(why);
}

TcpGroup::Header TcpGroup::EncodeHeader(const Call& call) {
  Header header = {};
  Put(Put(Put(header.data(), call.kind), call.root), call.count);
  return header;
}

absl::Status TcpGroup::AwaitMembers() {
  uint64_t missing = 0;
  {
    const runtime::MutexLock lock(mutex_);
    const Instant end = runtime::MonotonicNow() + timeout_;
    while (!has_met_ && over_.ok() && met_.WaitUntil(mutex_, end)) {
    }
    if (!over_.ok()) return absl::AbortedError(over_.message());
    if (has_met_) return absl::OkStatus();
    missing = meeting_->missing();
  }
  std::string ranks;
  for (int rank = 0; rank < size_; ++rank) {
    if ((missing >> rank & 1) != 0) absl::StrAppend(&ranks, " ", rank);
  }
  return End(absl::DeadlineExceededError(
      absl::StrCat("these ranks of the group did not come within ",
                   absl::FormatDuration(timeout_), ":", ranks)));
}

absl::Status TcpGroup::Make(const Call& call, CallFlow& flow) {
  SKERRY_RETURN_IF_ERROR(AwaitMembers());
  Courier courier(*this, EncodeHeader(call), flow);
  Instant moved_at = runtime::MonotonicNow();
  while (!courier.IsDone()) {
    bool moved = false;
    for (int rank = 0; rank < size_; ++rank) {
      if (rank == rank_) continue;
      switch (courier.Move(rank)) {
        case Courier::Found::kNothing:
          break;
        case Courier::Found::kMoved:
          moved = true;
          break;
        case Courier::Found::kOtherCall:
          SKERRY_RETURN_IF_ERROR(over());
          return Refuse(absl::StrCat("ranks ", rank_, " and ", rank,
                                     " of the group called different "
                                     "collectives"));
        case Courier::Found::kGone:
          // This end may have been closed by Abort().
          SKERRY_RETURN_IF_ERROR(over());
          return End(absl::AbortedError(absl::StrCat(
              "rank ", rank, " has left the group: ", courier.why_gone())));
      }
    }
    if (moved) {
      moved_at = runtime::MonotonicNow();
      continue;
    }
    SKERRY_RETURN_IF_ERROR(over());
    const absl::Duration left = timeout_ - (runtime::MonotonicNow() - moved_at);
    if (left <= absl::ZeroDuration()) {
      return End(absl::DeadlineExceededError(absl::StrCat(
          "rank ", courier.Awaited(), " of the group did not go on within ",
          absl::FormatDuration(timeout_))));
    }
    courier.Wait(left);
  }
  return absl::OkStatus();
}

absl::Status TcpGroup::Barrier() {
  NoFlow flow;
  return Make({.kind = kBarrier}, flow);
}

absl::Status TcpGroup::AllReduceSum(std::span<float> values) {
  const Call call = {.kind = kAllReduce, .count = values.size()};
  if (size_ == 1) {
    NoFlow flow;
    return Make(call, flow);
  }
  AllReduceFlow flow(rank_, size_, values, staging_);
  return Make(call, flow);
}

absl::Status TcpGroup::Broadcast(std::span<float> values, int root) {
  if (root < 0 || root >= size_) {
    return Refuse(absl::StrCat("root ", root, " is not in a group of ", size_));
  }
  BroadcastFlow flow(rank_, size_, root, std::as_writable_bytes(values));
  return Make({.kind = kBroadcast,
               .root = static_cast<uint32_t>(root),
               .count = values.size()},
              flow);
}

absl::Status TcpGroup::AllToAll(std::span<const std::byte> to,
                                std::span<std::byte> from) {
  const auto ranks = static_cast<size_t>(size_);
  if (to.size() != from.size() || to.size() % ranks != 0) {
    return Refuse(absl::StrCat(to.size(), " bytes to all and ", from.size(),
                               " from all are not ", ranks,
                               " pieces of one length each"));
  }
  const size_t piece = to.size() / ranks;
  const auto own = static_cast<size_t>(rank_);
  std::vector<std::span<const std::byte>> gives(ranks);
  std::vector<std::span<std::byte>> takes(ranks);
  for (size_t rank = 0; rank < ranks; ++rank) {
    if (rank == own) continue;
    gives[rank] = to.subspan(rank * piece, piece);
    takes[rank] = from.subspan(rank * piece, piece);
  }
  const auto kept = to.subspan(own * piece, piece);
  std::copy(kept.begin(), kept.end(), from.subspan(own * piece).begin());
  PiecesFlow flow(std::move(gives), std::move(takes));
  return Make({.kind = kAllToAll, .count = to.size()}, flow);
}

absl::Status TcpGroup::AllGather(std::span<const std::byte> piece,
                                 std::span<std::byte> all) {
  const auto ranks = static_cast<size_t>(size_);
  if (all.size() != ranks * piece.size()) {
    return Refuse(absl::StrCat(all.size(), " bytes are not ", ranks,
                               " pieces of ", piece.size()));
  }
  const auto own = static_cast<size_t>(rank_);
  std::vector<std::span<const std::byte>> gives(ranks, piece);
  std::vector<std::span<std::byte>> takes(ranks);
  for (size_t rank = 0; rank < ranks; ++rank) {
    takes[rank] = all.subspan(rank * piece.size(), piece.size());
  }
  std::copy(piece.begin(), piece.end(), takes[own].begin());
  gives[own] = {};
  takes[own] = {};
  PiecesFlow flow(std::move(gives), std::move(takes));
  return Make({.kind = kAllGather, .count = piece.size()}, flow);
}

}  // namespace skerry::transport
