// Any bytes as what a stranger may say to a member of a group, and as bootstrap
// bytes: what is taken is written back to the same bytes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/check.h"
#include "transport/rendezvous.h"
#include "transport/tcp/greeting.h"

namespace transport = skerry::transport;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  if (size >= transport::kGreetingBytes) {
    const auto first = bytes.first<transport::kGreetingBytes>();
    const auto greeting = transport::DecodeGreeting(first);
    if (greeting.has_value()) {
      SKERRY_CHECK(greeting->from < greeting->size);
      SKERRY_CHECK(greeting->to < greeting->size);
      SKERRY_CHECK(
          std::ranges::equal(transport::EncodeGreeting(*greeting), first));
    }
  }
  if (size >= transport::kEndpointBytes) {
    const auto first = bytes.first<transport::kEndpointBytes>();
    const auto endpoint = transport::DecodeEndpoint(first);
    if (endpoint.ok()) {
      SKERRY_CHECK(*transport::DecodeEndpoint(
                       transport::EncodeEndpoint(*endpoint)) == *endpoint);
    }
  }
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto rendezvous = transport::DecodeRendezvous(text);
  if (rendezvous.ok()) {
    SKERRY_CHECK(transport::EncodeRendezvous(*rendezvous) == text);
  } else {
    SKERRY_CHECK(rendezvous.status().message().find('\n') ==
                 absl::string_view::npos);
  }
  return 0;
}
