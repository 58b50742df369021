// transport/tcp/sockets.h
//
// The few calls to sockets that a group of members needs.
#ifndef SKERRY_TRANSPORT_TCP_SOCKETS_H_
#define SKERRY_TRANSPORT_TCP_SOCKETS_H_

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace skerry::transport {

// A file descriptor that is closed with this object.
class OwnedFd {
 public:
  OwnedFd() = default;
  explicit OwnedFd(int fd) : fd_(fd) {}
  OwnedFd(OwnedFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~OwnedFd() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

struct SocketAddress {
  sockaddr_storage bytes = {};
  socklen_t size = 0;
  int family() const { return bytes.ss_family; }
};

// Returns the addresses of a host name, or the address itself. It may ask the
// machine's name servers. Errors: Unavailable, nobody knows the name.
absl::StatusOr<std::vector<SocketAddress>> Resolve(const std::string& host,
                                                   uint16_t port);

// Returns the words of an error number of the kernel.
std::string ErrorText(int error);

// Without delays for small messages, and with an end when the other machine is
// silent for long.
void SetUpConnection(int fd);

// "10.0.0.7:4711" of who is at the other end; "nobody" when he is gone.
std::string PeerText(int fd);

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_TCP_SOCKETS_H_
