// transport/grpc/plain_cause.h
//
// Reduces an error text of gRPC to its cause.
#ifndef SKERRY_TRANSPORT_GRPC_PLAIN_CAUSE_H_
#define SKERRY_TRANSPORT_GRPC_PLAIN_CAUSE_H_

#include <string>
#include <string_view>

namespace skerry::transport {

// Returns the innermost cause of a connection that could not be made, as
// "Connection refused", and any other text as it is.
std::string PlainCause(std::string_view message);

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_PLAIN_CAUSE_H_
