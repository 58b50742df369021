#include "transport/tcp/tcp_listener.h"

#include <errno.h>
#include <sys/socket.h>

#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "runtime/posix/entropy.h"
#include "transport/host.h"

namespace skerry::transport {
namespace {

constexpr int kBacklog = 128;

SocketAddress EveryAddress(int family) {
  SocketAddress every;
  if (family == AF_INET) {
    auto& v4 = reinterpret_cast<sockaddr_in&>(every.bytes);
    v4.sin_family = AF_INET;
    every.size = sizeof(v4);
  } else {
    auto& v6 = reinterpret_cast<sockaddr_in6&>(every.bytes);
    v6.sin6_family = AF_INET6;
    every.size = sizeof(v6);
  }
  return every;
}

// Not open, with errno, when one cannot listen there.
OwnedFd ListenAt(const SocketAddress& address) {
  OwnedFd fd(
      socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.is_open() ||
      bind(fd.get(), reinterpret_cast<const sockaddr*>(&address.bytes),
           address.size) != 0 ||
      listen(fd.get(), kBacklog) != 0) {
    return OwnedFd();
  }
  return fd;
}

// 0 when the kernel does not say.
uint16_t PortOf(int fd) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return 0;
  }
  return ntohs(address.ss_family == AF_INET
                   ? reinterpret_cast<const sockaddr_in&>(address).sin_port
                   : reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
}

}  // namespace

absl::StatusOr<std::unique_ptr<TcpListener>> TcpListener::Listen(
    const std::string& host) {
  SKERRY_RETURN_IF_ERROR(CheckHost(host));
  SKERRY_ASSIGN_OR_RETURN(const std::vector<SocketAddress> addresses,
                          Resolve(host, 0));
  const SocketAddress& first = addresses.front();
  OwnedFd fd = ListenAt(first);
  if (!fd.is_open() && errno == EADDRNOTAVAIL) {
    fd = ListenAt(EveryAddress(first.family()));
  }
  if (!fd.is_open()) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen at ", host, ": ", ErrorText(errno)));
  }
  const std::string endpoint = WithPort(host, PortOf(fd.get()));
  return std::unique_ptr<TcpListener>(new TcpListener(std::move(fd), endpoint));
}

GroupSecret DrawGroupSecret() {
  GroupSecret secret;
  for (size_t at = 0; at < secret.size(); at += sizeof(uint64_t)) {
    const uint64_t drawn = runtime::DrawRandom64();
    std::memcpy(&secret[at], &drawn, sizeof(drawn));
  }
  return secret;
}

}  // namespace skerry::transport
