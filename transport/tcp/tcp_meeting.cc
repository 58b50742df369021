#include "transport/tcp/tcp_meeting.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "runtime/log.h"
#include "runtime/posix/monotonic_clock.h"
#include "transport/address.h"

namespace skerry::transport {
namespace {

// How long a member that leaves tries to let rank 0 know.
constexpr absl::Duration kLeaveWithin = absl::Seconds(1);
constexpr absl::Duration kTurn = absl::Milliseconds(200);

bool WouldWait(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR ||
         error == EINPROGRESS;
}

}  // namespace

// One connection. At each time it has bytes to send and waits for a number of
// them; when all are here, OnWhole() decides what comes next.
struct TcpMeeting::Talk {
  enum class State {
    kConnecting,      // dialled
    kAwaitsAnswer,    // dialled: greeting and proof of the acceptor
    kAwaitsTable,     // dialled rank 0: where all listen
    kAwaitsGreeting,  // accepted
    kAwaitsProof,     // accepted; at rank 0 with where he listens
    kAwaitsOthers,    // accepted by rank 0: the table is not there yet
    kHere,            // trusted, once all is sent
  };

  State state = State::kAwaitsGreeting;
  OwnedFd fd;
  int rank = -1;  // of the other end; -1 until he has said it
  Instant since;
  std::vector<SocketAddress> more;  // to dial when this one fails
  std::string endpoint;             // dialled
  GreetingBytes dialer;
  GreetingBytes acceptor;
  std::vector<std::byte> out;
  size_t sent = 0;
  std::vector<std::byte> in;  // of the size that is wanted
  size_t got = 0;

  bool IsDialled() const { return !endpoint.empty(); }
  // Whether the other end has shown the secret.
  bool IsTrusted() const {
    return state == State::kAwaitsTable || state == State::kAwaitsOthers ||
           state == State::kHere;
  }
  bool IsComplete() const {
    return state == State::kHere && sent == out.size();
  }

  template <typename Bytes>
  void Say(const Bytes& bytes) {
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
  void Want(State next, size_t bytes) {
    state = next;
    in.assign(bytes, std::byte());
    got = 0;
  }
};

TcpMeeting::TcpMeeting(TcpMeetingOptions options)
    : options_(std::move(options)),
      endpoints_(static_cast<size_t>(options_.size)),
      missing_((options_.size == 64 ? ~uint64_t{0}
                                    : (uint64_t{1} << options_.size) - 1) &
               ~(uint64_t{1} << options_.rank)) {}

TcpMeeting::~TcpMeeting() {
  if (refused_ > 1) {
    runtime::Log(runtime::Severity::kWarning, "group.strangers",
                 {{"refused", refused_}});
  }
}

absl::StatusOr<std::vector<OwnedFd>> TcpMeeting::Run() {
  const absl::Status met = RunUntilAllAreHere();
  if (!met.ok()) {
    if (IsStopped()) Leave();
    return met;
  }
  std::vector<OwnedFd> connections(static_cast<size_t>(options_.size));
  for (const std::unique_ptr<Talk>& talk : talks_) {
    if (!talk->IsComplete()) continue;
    connections[static_cast<size_t>(talk->rank)] = std::move(talk->fd);
  }
  return connections;
}

absl::Status TcpMeeting::RunUntilAllAreHere() {
  endpoints_[static_cast<size_t>(options_.rank)] =
      options_.listener->endpoint();
  if (options_.rank != 0) {
    SKERRY_RETURN_IF_ERROR(Dial(0, options_.rendezvous.endpoint));
  }
  while (missing_.load() != 0) {
    if (IsStopped()) return absl::AbortedError("the group was aborted");
    SKERRY_RETURN_IF_ERROR(Turn());
  }
  return absl::OkStatus();
}

bool TcpMeeting::IsStopped() const {
  pollfd stop{options_.stop_fd, POLLIN, 0};
  return poll(&stop, 1, 0) > 0;
}

TcpMeeting::Talk* TcpMeeting::Find(int rank) const {
  for (const std::unique_ptr<Talk>& talk : talks_) {
    if (talk->rank == rank && talk->IsTrusted()) return talk.get();
  }
  return nullptr;
}

absl::Status TcpMeeting::Turn() {
  std::vector<pollfd> waits = {{options_.stop_fd, POLLIN, 0},
                               {options_.listener->fd(), POLLIN, 0}};
  for (const std::unique_ptr<Talk>& talk : talks_) {
    short events = 0;
    if (talk->got < talk->in.size()) events |= POLLIN;
    if (talk->state == Talk::State::kConnecting ||
        talk->sent < talk->out.size()) {
      events |= POLLOUT;
    }
    // One that is complete may already send what belongs to a call.
    if (talk->IsTrusted()) events |= POLLRDHUP;
    waits.push_back({talk->fd.get(), events, 0});
  }
  poll(waits.data(), waits.size(),
       static_cast<int>(absl::ToInt64Milliseconds(kTurn)));
  const size_t known = talks_.size();
  for (size_t i = 0; i < known; ++i) {
    if (waits[i + 2].revents != 0) SKERRY_RETURN_IF_ERROR(Move(*talks_[i]));
  }
  if (waits[1].revents != 0) Accept();
  DropStrangers();
  for (const std::unique_ptr<Talk>& talk : talks_) {
    if (talk->IsComplete()) missing_ &= ~(uint64_t{1} << talk->rank);
  }
  return absl::OkStatus();
}

absl::Status TcpMeeting::Dial(int rank, const std::string& endpoint) {
  auto talk = std::make_unique<Talk>();
  talk->state = Talk::State::kConnecting;
  talk->rank = rank;
  talk->endpoint = endpoint;
  uint32_t port = 0;
  // It was checked when it was decoded.
  if (!absl::SimpleAtoi(endpoint.substr(endpoint.rfind(':') + 1), &port)) {
    return absl::AbortedError(absl::StrCat(endpoint, " has no port"));
  }
  const absl::StatusOr<std::vector<SocketAddress>> found =
      Resolve(HostOf(endpoint), static_cast<uint16_t>(port));
  if (!found.ok()) return absl::AbortedError(found.status().message());
  talk->more.assign(found->rbegin(), found->rend());
  talks_.push_back(std::move(talk));
  return Move(*talks_.back());
}

void TcpMeeting::Accept() {
  while (true) {
    OwnedFd fd(accept4(options_.listener->fd(), nullptr, nullptr,
                       SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd.is_open()) {
      const bool is_out_of_descriptors = errno == EMFILE || errno == ENFILE;
      if (!is_out_of_descriptors) return;
      // The connection stays in the queue, so that poll() would not wait.
      pollfd stop{options_.stop_fd, POLLIN, 0};
      poll(&stop, 1, static_cast<int>(absl::ToInt64Milliseconds(kTurn)));
      return;
    }
    SetUpConnection(fd.get());
    auto talk = std::make_unique<Talk>();
    talk->fd = std::move(fd);
    talk->since = runtime::MonotonicNow();
    talk->Want(Talk::State::kAwaitsGreeting, kGreetingBytes);
    talks_.push_back(std::move(talk));
  }
}

absl::Status TcpMeeting::Move(Talk& talk) {
  const auto left = [&talk](const std::string& why) {
    return absl::AbortedError(absl::StrCat(
        talk.IsDialled() && !talk.IsTrusted() ? "cannot meet rank "
                                              : "there is no more rank ",
        talk.rank,
        talk.IsDialled() ? absl::StrCat(" at ", talk.endpoint) : std::string(),
        ": ", why));
  };
  if (talk.state == Talk::State::kConnecting) {
    int error = EADDRNOTAVAIL;
    socklen_t size = sizeof(error);
    if (talk.fd.is_open()) {
      getsockopt(talk.fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    }
    while (error != 0 && !talk.more.empty()) {
      const SocketAddress next = talk.more.back();
      talk.more.pop_back();
      talk.fd = OwnedFd(
          socket(next.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
      error = 0;
      if (connect(talk.fd.get(), reinterpret_cast<const sockaddr*>(&next.bytes),
                  next.size) != 0) {
        if (errno == EINPROGRESS) return absl::OkStatus();
        error = errno;
      }
    }
    if (error != 0) return left(ErrorText(error));
    SetUpConnection(talk.fd.get());
    Greeting greeting{static_cast<uint16_t>(options_.rank),
                      static_cast<uint16_t>(talk.rank),
                      static_cast<uint16_t>(options_.size), DrawGroupSecret()};
    talk.dialer = EncodeGreeting(greeting);
    talk.Say(talk.dialer);
    talk.Want(Talk::State::kAwaitsAnswer, kGreetingBytes + kProofBytes);
  }
  while (talk.sent < talk.out.size()) {
    const ssize_t n = send(talk.fd.get(), &talk.out[talk.sent],
                           talk.out.size() - talk.sent, MSG_NOSIGNAL);
    if (n < 0 && WouldWait(errno)) break;
    if (n < 0) {
      if (talk.IsDialled() || talk.IsTrusted()) return left(ErrorText(errno));
      Refuse(talk, "it has gone");
      return absl::OkStatus();
    }
    talk.sent += static_cast<size_t>(n);
  }
  while (talk.got < talk.in.size()) {
    const ssize_t n =
        recv(talk.fd.get(), &talk.in[talk.got], talk.in.size() - talk.got, 0);
    if (n < 0 && WouldWait(errno)) return absl::OkStatus();
    if (n <= 0) {
      const std::string why =
          n == 0 ? "it has closed the connection" : ErrorText(errno);
      if (talk.IsDialled() || talk.IsTrusted()) return left(why);
      Refuse(talk, "it has gone");
      return absl::OkStatus();
    }
    talk.got += static_cast<size_t>(n);
    if (talk.got == talk.in.size()) return OnWhole(talk);
  }
  if (!talk.IsTrusted()) return absl::OkStatus();
  pollfd gone{talk.fd.get(), POLLRDHUP, 0};
  if (poll(&gone, 1, 0) > 0 && gone.revents != 0) {
    return left("it has closed the connection");
  }
  return absl::OkStatus();
}

absl::Status TcpMeeting::OnWhole(Talk& talk) {
  switch (talk.state) {
    case Talk::State::kAwaitsGreeting:
      if (!OnGreetingOfDialer(talk)) Refuse(talk, "it is no member");
      return absl::OkStatus();
    case Talk::State::kAwaitsProof:
      if (!OnProofOfDialer(talk)) Refuse(talk, "it does not know the secret");
      return absl::OkStatus();
    case Talk::State::kAwaitsAnswer:
      return OnAnswerOfAcceptor(talk);
    case Talk::State::kAwaitsTable:
      return OnTable(talk);
    default:
      return absl::OkStatus();
  }
}

bool TcpMeeting::OnGreetingOfDialer(Talk& talk) {
  std::copy(talk.in.begin(), talk.in.end(), talk.dialer.begin());
  const std::optional<Greeting> greeting = DecodeGreeting(talk.dialer);
  // Higher ranks dial lower ones, each once.
  if (!greeting.has_value() || greeting->to != options_.rank ||
      greeting->size != options_.size || greeting->from < options_.rank ||
      Find(greeting->from) != nullptr) {
    return false;
  }
  talk.rank = greeting->from;
  talk.acceptor = EncodeGreeting(
      {greeting->to, greeting->from, greeting->size, DrawGroupSecret()});
  talk.Say(talk.acceptor);
  talk.Say(ProofOf(options_.rendezvous.secret, ConnectionEnd::kAcceptor,
                   talk.dialer, talk.acceptor));
  talk.Want(Talk::State::kAwaitsProof,
            kProofBytes + (options_.rank == 0 ? kEndpointBytes : 0));
  return true;
}

bool TcpMeeting::OnProofOfDialer(Talk& talk) {
  const std::span<const std::byte> in(talk.in);
  if (!IsSameProof(in.first<kProofBytes>(),
                   ProofOf(options_.rendezvous.secret, ConnectionEnd::kDialer,
                           talk.dialer, talk.acceptor)) ||
      Find(talk.rank) != nullptr) {
    return false;
  }
  if (options_.rank != 0) {
    talk.Want(Talk::State::kHere, 0);
    return true;
  }
  const absl::StatusOr<std::string> endpoint =
      DecodeEndpoint(in.subspan<kProofBytes, kEndpointBytes>());
  if (!endpoint.ok()) return false;
  endpoints_[static_cast<size_t>(talk.rank)] = *endpoint;
  talk.Want(Talk::State::kAwaitsOthers, 0);
  ConsiderTable();
  return true;
}

void TcpMeeting::ConsiderTable() {
  for (int rank = 1; rank < options_.size; ++rank) {
    if (Find(rank) == nullptr) return;
  }
  for (int rank = 1; rank < options_.size; ++rank) {
    Talk& talk = *Find(rank);
    for (const std::string& endpoint : endpoints_) {
      talk.Say(EncodeEndpoint(endpoint));
    }
    talk.state = Talk::State::kHere;
  }
}

absl::Status TcpMeeting::OnAnswerOfAcceptor(Talk& talk) {
  std::copy_n(talk.in.begin(), kGreetingBytes, talk.acceptor.begin());
  const std::optional<Greeting> greeting = DecodeGreeting(talk.acceptor);
  const std::span<const std::byte> in(talk.in);
  if (!greeting.has_value() || greeting->from != talk.rank ||
      greeting->to != options_.rank ||
      !IsSameProof(in.subspan<kGreetingBytes, kProofBytes>(),
                   ProofOf(options_.rendezvous.secret, ConnectionEnd::kAcceptor,
                           talk.dialer, talk.acceptor))) {
    return absl::AbortedError(absl::StrCat("who answers at ", talk.endpoint,
                                           " is not rank ", talk.rank,
                                           " of the group"));
  }
  talk.Say(ProofOf(options_.rendezvous.secret, ConnectionEnd::kDialer,
                   talk.dialer, talk.acceptor));
  if (talk.rank == 0) {
    talk.Say(EncodeEndpoint(options_.listener->endpoint()));
    talk.Want(Talk::State::kAwaitsTable,
              kEndpointBytes * static_cast<size_t>(options_.size));
  } else {
    talk.Want(Talk::State::kHere, 0);
  }
  return Move(talk);
}

absl::Status TcpMeeting::OnTable(Talk& talk) {
  const std::vector<std::byte> table = std::move(talk.in);
  talk.Want(Talk::State::kHere, 0);
  for (int rank = 1; rank < options_.rank; ++rank) {
    const std::span<const std::byte, kEndpointBytes> bytes(
        &table[kEndpointBytes * static_cast<size_t>(rank)], kEndpointBytes);
    const absl::StatusOr<std::string> endpoint = DecodeEndpoint(bytes);
    if (!endpoint.ok()) return absl::AbortedError(endpoint.status().message());
    SKERRY_RETURN_IF_ERROR(Dial(rank, *endpoint));
  }
  return absl::OkStatus();
}

void TcpMeeting::DropStrangers() {
  const Instant now = runtime::MonotonicNow();
  size_t strangers = 0;
  // The newest are last.
  for (size_t i = talks_.size(); i-- > 0;) {
    Talk& talk = *talks_[i];
    if (talk.IsTrusted() || talk.IsDialled() || !talk.fd.is_open()) continue;
    if (++strangers > kStrangersMax || now - talk.since > kGreetWithin) {
      Refuse(talk, "it says nothing");
    }
  }
  std::erase_if(talks_, [](const std::unique_ptr<Talk>& talk) {
    return !talk->IsDialled() && !talk->fd.is_open();
  });
}

void TcpMeeting::Refuse(Talk& talk, const char* why) {
  if (++refused_ == 1) {
    runtime::Log(runtime::Severity::kWarning, "group.stranger.refused",
                 {{"from", PeerText(talk.fd.get())}, {"cause", why}});
  }
  talk.fd = OwnedFd();
  talk.Want(Talk::State::kAwaitsGreeting, 0);
  talk.out.clear();
  talk.sent = 0;
}

void TcpMeeting::Leave() {
  if (options_.rank == 0) return;
  const Instant until = runtime::MonotonicNow() + kLeaveWithin;
  while (Find(0) == nullptr && runtime::MonotonicNow() < until) {
    std::vector<pollfd> waits;
    for (const std::unique_ptr<Talk>& talk : talks_) {
      if (talk->rank != 0) continue;
      waits.push_back(
          {talk->fd.get(),
           static_cast<short>(POLLIN |
                              (talk->sent < talk->out.size() ? POLLOUT : 0)),
           0});
      if (talk->state == Talk::State::kConnecting)
        waits.back().events = POLLOUT;
      poll(waits.data(), 1, 50);
      if (!Move(*talk).ok()) return;
    }
    if (waits.empty()) return;
  }
}

}  // namespace skerry::transport
