// transport/loopback.h
//
// Decides where connections without TLS are allowed.
#ifndef SKERRY_TRANSPORT_LOOPBACK_H_
#define SKERRY_TRANSPORT_LOOPBACK_H_

#include <string_view>

#include "absl/status/status.h"

namespace skerry::transport {

// OK for addresses that never leave this machine: "unix:PATH",
// "unix-abstract:NAME", "localhost:PORT", "127.x.y.z:PORT", "[::1]:PORT".
// Port 0 passes. InvalidArgument for anything else, and for what is no address
// (address.h), with one line for the operator.
absl::Status RequireLoopback(std::string_view address);

// Checks an address to listen at, which is of this machine alone unless it
// `may_leave` it. Errors: InvalidArgument.
absl::Status CheckListen(std::string_view address, bool may_leave);

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_LOOPBACK_H_
