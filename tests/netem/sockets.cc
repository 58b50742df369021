#include "tests/netem/sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace skerry::netem {
namespace {

// What the sender may have standing in front of the relay. Small beside a
// bandwidth-delay product, which the relay itself holds; large beside what one
// turn of it reads.
constexpr int kReceiveBufferBytes = 512 << 10;
constexpr int kSendBufferBytes = 4 << 20;
constexpr int kBacklog = 128;

absl::Status Failure(const std::string& doing, int fd) {
  const absl::Status status =
      absl::UnavailableError(absl::StrCat(doing, ": ", strerror(errno)));
  if (fd >= 0) close(fd);
  return status;
}

absl::StatusOr<sockaddr_in> ParseAddress(const std::string& address) {
  const size_t colon = address.rfind(':');
  sockaddr_in parsed = {};
  parsed.sin_family = AF_INET;
  int port = 0;
  if (colon == std::string::npos ||
      !absl::SimpleAtoi(address.substr(colon + 1), &port) || port < 0 ||
      port > 65535 ||
      inet_pton(AF_INET, address.substr(0, colon).c_str(), &parsed.sin_addr) !=
          1 ||
      (ntohl(parsed.sin_addr.s_addr) >> 24) != 127) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", address, "\" is not 127.x.y.z:PORT"));
  }
  parsed.sin_port = htons(static_cast<uint16_t>(port));
  return parsed;
}

void Set(int fd, int level, int option, int value) {
  setsockopt(fd, level, option, &value, sizeof(value));
}

void SetUpData(int fd) {
  Set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  Set(fd, SOL_SOCKET, SO_RCVBUF, kReceiveBufferBytes);
  Set(fd, SOL_SOCKET, SO_SNDBUF, kSendBufferBytes);
}

// sockaddr is C's way of naming any of them.
template <typename T>
const sockaddr* Generic(const T& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

}  // namespace

absl::StatusOr<int> ListenOn(const std::string& address) {
  const auto parsed = ParseAddress(address);
  if (!parsed.ok()) return parsed.status();
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return Failure("cannot make a socket", fd);
  Set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  SetUpData(fd);
  if (bind(fd, Generic(*parsed), sizeof(*parsed)) != 0 ||
      listen(fd, kBacklog) != 0) {
    return Failure(absl::StrCat("cannot listen on ", address), fd);
  }
  return fd;
}

absl::StatusOr<int> ConnectTo(const std::string& address) {
  const auto parsed = ParseAddress(address);
  if (!parsed.ok()) return parsed.status();
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return Failure("cannot make a socket", fd);
  SetUpData(fd);
  if (connect(fd, Generic(*parsed), sizeof(*parsed)) != 0 &&
      errno != EINPROGRESS) {
    return Failure(absl::StrCat("cannot connect to ", address), fd);
  }
  return fd;
}

absl::StatusOr<int> ListenOnUnix(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", path, "\" is no path for a socket"));
  }
  std::copy(path.begin(), path.end(), address.sun_path);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return Failure("cannot make a socket", fd);
  unlink(path.c_str());
  if (bind(fd, Generic(address), sizeof(address)) != 0 ||
      listen(fd, kBacklog) != 0) {
    return Failure(absl::StrCat("cannot listen on ", path), fd);
  }
  return fd;
}

int Accept(int listener) {
  int fd;
  do {
    fd = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  } while (fd < 0 && (errno == EINTR || errno == ECONNABORTED));
  if (fd >= 0) Set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  return fd;
}

std::string LocalAddress(int fd) {
  sockaddr_in address = {};
  socklen_t size = sizeof(address);
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  char host[INET_ADDRSTRLEN] = {};
  inet_ntop(AF_INET, &address.sin_addr, host, sizeof(host));
  return absl::StrCat(host, ":", ntohs(address.sin_port));
}

}  // namespace skerry::netem
