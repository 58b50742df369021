// transport/tcp/greeting.h
//
// What two members say to each other on a new connection before they trust it
// (docs/formats/rendezvous.md). All of it has a fixed size.
#ifndef SKERRY_TRANSPORT_TCP_GREETING_H_
#define SKERRY_TRANSPORT_TCP_GREETING_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "transport/rendezvous.h"

namespace skerry::transport {

inline constexpr size_t kGreetingBytes = 48;
inline constexpr size_t kProofBytes = 32;
inline constexpr size_t kEndpointBytes = 272;
using GreetingBytes = std::array<std::byte, kGreetingBytes>;
using Proof = std::array<std::byte, kProofBytes>;
using EndpointBytes = std::array<std::byte, kEndpointBytes>;

struct Greeting {
  // Ranks of who speaks and of whom he means to reach, and members in all.
  uint16_t from = 0;
  uint16_t to = 0;
  uint16_t size = 0;
  // Drawn anew for each connection.
  std::array<std::byte, 32> nonce = {};
  friend bool operator==(const Greeting&, const Greeting&) = default;
};

GreetingBytes EncodeGreeting(const Greeting& greeting);
// None: the bytes are no greeting of a member.
std::optional<Greeting> DecodeGreeting(
    std::span<const std::byte, kGreetingBytes> bytes);

enum class ConnectionEnd { kDialer, kAcceptor };
// Shows that the end knows the secret of the group. It holds for this pair of
// greetings only.
Proof ProofOf(const GroupSecret& secret, ConnectionEnd end,
              const GreetingBytes& dialer, const GreetingBytes& acceptor);
// Takes as long for all values.
bool IsSameProof(std::span<const std::byte, kProofBytes> a, const Proof& b);

// HOST:PORT of at most kEndpointBytes - 1 characters, filled up with zeros.
EndpointBytes EncodeEndpoint(const std::string& endpoint);
// Errors: InvalidArgument, it is no address to connect to.
absl::StatusOr<std::string> DecodeEndpoint(
    std::span<const std::byte, kEndpointBytes> bytes);

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_TCP_GREETING_H_
