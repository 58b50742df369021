// transport/tcp/tcp_listener.h
//
// The socket at which a member waits for others, before and while the group
// meets.
#ifndef SKERRY_TRANSPORT_TCP_TCP_LISTENER_H_
#define SKERRY_TRANSPORT_TCP_TCP_LISTENER_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "transport/rendezvous.h"
#include "transport/tcp/sockets.h"

namespace skerry::transport {

class TcpListener {
 public:
  // Listens at the host, on a port that the system chooses. Where no interface
  // of this machine has the host's address, as behind a port that is forwarded,
  // it listens at all addresses. Errors: InvalidArgument, it is no host;
  // Unavailable, nobody knows its name, or it cannot be listened on.
  static absl::StatusOr<std::unique_ptr<TcpListener>> Listen(
      const std::string& host);

  // HOST:PORT with the host of Listen().
  const std::string& endpoint() const { return endpoint_; }
  int fd() const { return fd_.get(); }

 private:
  TcpListener(OwnedFd fd, std::string endpoint)
      : fd_(std::move(fd)), endpoint_(std::move(endpoint)) {}

  OwnedFd fd_;
  std::string endpoint_;
};

// Draws the secret of a new group from the kernel.
GroupSecret DrawGroupSecret();

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_TCP_TCP_LISTENER_H_
