// transport/address.h
//
// Checks that an address has the form HOST:PORT.
#ifndef SKERRY_TRANSPORT_ADDRESS_H_
#define SKERRY_TRANSPORT_ADDRESS_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace skerry::transport {

// Whether an address is one to listen on, where port 0 stands for a free one,
// or one to connect to.
enum class AddressUse { kListen, kConnect };

// OK for "HOST:PORT" with a port from 1 to 65535 (0 too, to listen on), for
// "[IPv6]:PORT", and for the Unix sockets "unix:PATH" and "unix-abstract:NAME".
// InvalidArgument otherwise, with a line that says what to write instead.
absl::Status CheckAddress(std::string_view address, AddressUse use);

// Returns the host of an address that CheckAddress accepts, without brackets.
// Empty for a Unix socket.
std::string HostOf(std::string_view address);

// Whether `address` stands for all addresses of this machine, at which one can
// listen and to which nobody can connect.
bool IsWildcard(std::string_view address);

// Whether `address` is a Unix socket's.
bool IsUnixAddress(std::string_view address);

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_ADDRESS_H_
