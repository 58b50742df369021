// transport/host.h
//
// Checks that a word is a host to which one can connect.
#ifndef SKERRY_TRANSPORT_HOST_H_
#define SKERRY_TRANSPORT_HOST_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace skerry::transport {

// OK for a host name and an IP address to which one can connect, without a port
// and without brackets. InvalidArgument otherwise, with a line that says what
// to write instead.
absl::Status CheckHost(std::string_view host);

// Returns HOST:PORT, with brackets around an IPv6 address.
std::string WithPort(std::string_view host, uint16_t port);

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_HOST_H_
