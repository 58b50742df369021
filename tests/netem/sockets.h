// tests/netem/sockets.h
//
// Non-blocking IPv4 sockets on loopback.
#ifndef SKERRY_TESTS_NETEM_SOCKETS_H_
#define SKERRY_TESTS_NETEM_SOCKETS_H_

#include <string>

#include "absl/status/statusor.h"

namespace skerry::netem {

// Addresses are "127.x.y.z:PORT". Errors of both: InvalidArgument (address),
// Unavailable (anything else). The caller closes the descriptor.
absl::StatusOr<int> ListenOn(const std::string& address);
// Returns before the connection is made; a failure shows when it is used.
absl::StatusOr<int> ConnectTo(const std::string& address);
absl::StatusOr<int> ListenOnUnix(const std::string& path);
// The accepted socket, or -1 when there is none.
int Accept(int listener);
// What a listener is bound to.
std::string LocalAddress(int fd);

}  // namespace skerry::netem

#endif  // SKERRY_TESTS_NETEM_SOCKETS_H_
