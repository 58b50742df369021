// transport/rendezvous.h
//
// Where the members of a group meet, as bootstrap bytes that workers pass on
// unread (docs/formats/rendezvous.md).
#ifndef SKERRY_TRANSPORT_RENDEZVOUS_H_
#define SKERRY_TRANSPORT_RENDEZVOUS_H_

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "absl/status/statusor.h"

namespace skerry::transport {

// Known to the members of one group alone. Who has it is one of them.
using GroupSecret = std::array<std::byte, 32>;

// A shared-memory object of the host, "/name".
struct ShmRendezvous {
  std::string name;
  friend bool operator==(const ShmRendezvous&, const ShmRendezvous&) = default;
};

// Where rank 0 listens, HOST:PORT.
struct TcpRendezvous {
  std::string endpoint;
  GroupSecret secret = {};
  friend bool operator==(const TcpRendezvous&, const TcpRendezvous&) = default;
};

using Rendezvous = std::variant<ShmRendezvous, TcpRendezvous>;

std::string EncodeRendezvous(const Rendezvous& rendezvous);
// Errors: InvalidArgument. The message does not repeat the bytes, because there
// may be a secret among them.
absl::StatusOr<Rendezvous> DecodeRendezvous(std::string_view bytes);

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_RENDEZVOUS_H_
