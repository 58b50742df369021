#include "transport/tcp/greeting.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <cstring>

#include "absl/status/status.h"
#include "base/check.h"
#include "transport/address.h"
#include "transport/host.h"

namespace skerry::transport {
namespace {

constexpr char kMagic[] = "SKRYGRP1";
constexpr size_t kMagicBytes = 8;
constexpr size_t kNonceAt = 16;

void PutU16(std::byte* at, uint16_t value) {
  at[0] = static_cast<std::byte>(value & 0xff);
  at[1] = static_cast<std::byte>(value >> 8);
}

uint16_t GetU16(const std::byte* at) {
  return static_cast<uint16_t>(static_cast<unsigned>(at[0]) |
                               static_cast<unsigned>(at[1]) << 8);
}

}  // namespace

GreetingBytes EncodeGreeting(const Greeting& greeting) {
  GreetingBytes bytes = {};
  std::memcpy(bytes.data(), kMagic, kMagicBytes);
  PutU16(&bytes[8], greeting.from);
  PutU16(&bytes[10], greeting.to);
  PutU16(&bytes[12], greeting.size);
  std::copy(greeting.nonce.begin(), greeting.nonce.end(), &bytes[kNonceAt]);
  return bytes;
}

std::optional<Greeting> DecodeGreeting(
    std::span<const std::byte, kGreetingBytes> bytes) {
  if (std::memcmp(bytes.data(), kMagic, kMagicBytes) != 0) return std::nullopt;
  Greeting greeting{GetU16(&bytes[8]), GetU16(&bytes[10]), GetU16(&bytes[12])};
  if (GetU16(&bytes[14]) != 0 || greeting.from >= greeting.size ||
      greeting.to >= greeting.size || greeting.from == greeting.to) {
    return std::nullopt;
  }
  std::copy_n(&bytes[kNonceAt], greeting.nonce.size(), greeting.nonce.begin());
  return greeting;
}

Proof ProofOf(const GroupSecret& secret, ConnectionEnd end,
              const GreetingBytes& dialer, const GreetingBytes& acceptor) {
  std::array<std::byte, 1 + 2 * kGreetingBytes> text;
  text[0] = static_cast<std::byte>(end == ConnectionEnd::kDialer ? 1 : 2);
  std::copy(dialer.begin(), dialer.end(), &text[1]);
  std::copy(acceptor.begin(), acceptor.end(), &text[1 + kGreetingBytes]);
  Proof proof;
  unsigned size = 0;
  SKERRY_CHECK(
      HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(),
           reinterpret_cast<unsigned char*>(proof.data()), &size) != nullptr);
  SKERRY_CHECK(size == proof.size());
  return proof;
}

bool IsSameProof(std::span<const std::byte, kProofBytes> a, const Proof& b) {
  return CRYPTO_memcmp(a.data(), b.data(), b.size()) == 0;
}

EndpointBytes EncodeEndpoint(const std::string& endpoint) {
  SKERRY_CHECK(endpoint.size() < kEndpointBytes);
  EndpointBytes bytes = {};
  std::memcpy(bytes.data(), endpoint.data(), endpoint.size());
  return bytes;
}

absl::StatusOr<std::string> DecodeEndpoint(
    std::span<const std::byte, kEndpointBytes> bytes) {
  const char* const text = reinterpret_cast<const char*>(bytes.data());
  const std::string endpoint(text, strnlen(text, bytes.size()));
  if (IsUnixAddress(endpoint) ||
      !CheckAddress(endpoint, AddressUse::kConnect).ok() ||
      !CheckHost(HostOf(endpoint)).ok()) {
    return absl::InvalidArgumentError("a member names no HOST:PORT");
  }
  return endpoint;
}

}  // namespace skerry::transport
