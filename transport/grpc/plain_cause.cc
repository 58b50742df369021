#include "transport/grpc/plain_cause.h"

#include <cstddef>

namespace skerry::transport {

std::string PlainCause(std::string_view message) {
  for (const std::string_view wrapper :
       {"failed to connect to all addresses", "DNS resolution failed"}) {
    if (!message.starts_with(wrapper)) continue;
    const size_t colon = message.rfind(": ");
    if (colon != std::string_view::npos) message.remove_prefix(colon + 2);
    break;
  }
  return std::string(message);
}

}  // namespace skerry::transport
