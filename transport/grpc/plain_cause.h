// transport/grpc/plain_cause.h
//
// Reduces texts of gRPC to the cause that they tell of.
#ifndef SKERRY_TRANSPORT_GRPC_PLAIN_CAUSE_H_
#define SKERRY_TRANSPORT_GRPC_PLAIN_CAUSE_H_

#include <optional>
#include <string>
#include <string_view>

namespace skerry::transport {

// Returns the innermost cause of a connection that could not be made, as
// "Connection refused", and any other text as it is.
std::string PlainCause(std::string_view message);

// What a line of gRPC's log says of a TLS handshake that has failed, for
// operators; none for other lines.
std::optional<std::string> HandshakeCause(std::string_view line);

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_PLAIN_CAUSE_H_
