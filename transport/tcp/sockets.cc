#include "transport/tcp/sockets.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <string.h>

#include <memory>

#include "absl/strings/str_cat.h"
#include "transport/host.h"

namespace skerry::transport {
namespace {

// A machine that lost power says nothing. It is found after about 25 s without
// an answer, where the caller's timeout has not ended the wait before.
constexpr int kIdleS = 10;
constexpr int kProbeS = 5;
constexpr int kProbes = 3;

void Set(int fd, int level, int option, int value) {
  setsockopt(fd, level, option, &value, sizeof(value));
}

}  // namespace

absl::StatusOr<std::vector<SocketAddress>> Resolve(const std::string& host,
                                                   uint16_t port) {
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error =
      getaddrinfo(host.c_str(), absl::StrCat(port).c_str(), &hints, &found);
  if (error != 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot find ", host, ": ", gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found,
                                                             freeaddrinfo);
  std::vector<SocketAddress> addresses;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    SocketAddress& address = addresses.emplace_back();
    memcpy(&address.bytes, one->ai_addr, one->ai_addrlen);
    address.size = one->ai_addrlen;
  }
  return addresses;
}

std::string ErrorText(int error) {
  char text[128];
  return strerror_r(error, text, sizeof(text));
}

void SetUpConnection(int fd) {
  Set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  Set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  Set(fd, IPPROTO_TCP, TCP_KEEPIDLE, kIdleS);
  Set(fd, IPPROTO_TCP, TCP_KEEPINTVL, kProbeS);
  Set(fd, IPPROTO_TCP, TCP_KEEPCNT, kProbes);
}

std::string PeerText(int fd) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return "nobody";
  }
  char host[INET6_ADDRSTRLEN] = "";
  uint16_t port = 0;
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &v4.sin_addr, host, sizeof(host));
    port = ntohs(v4.sin_port);
  } else {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    inet_ntop(AF_INET6, &v6.sin6_addr, host, sizeof(host));
    port = ntohs(v6.sin6_port);
  }
  return WithPort(host, port);
}

}  // namespace skerry::transport
