#include "transport/grpc/plain_cause.h"

#include <cstddef>
#include <utility>

namespace skerry::transport {
namespace {

// In the words of operators; none for what is no error of TLS.
std::optional<std::string> TlsCause(std::string_view text) {
  constexpr std::pair<std::string_view, const char*> kCauses[] = {
      {"certificate verify failed",
       "the other end's certificate is not of this cluster's CA, or is not "
       "valid at this time"},
      {"wrong version number", "the other end speaks no TLS"},
      {"http request", "the other end speaks no TLS"},
      {"no shared cipher", "the other end does not offer TLS 1.3"},
      {"unsupported protocol", "the other end does not offer TLS 1.3"},
  };
  for (const auto& [words, cause] : kCauses) {
    if (text.find(words) != std::string_view::npos) return cause;
  }
  return std::nullopt;
}

}  // namespace

std::string PlainCause(std::string_view message) {
  for (const std::string_view wrapper :
       {"failed to connect to all addresses", "DNS resolution failed"}) {
    if (!message.starts_with(wrapper)) continue;
    const size_t colon = message.rfind(": ");
    if (colon != std::string_view::npos) message.remove_prefix(colon + 2);
    return TlsCause(message).value_or(std::string(message));
  }
  return std::string(message);
}

std::optional<std::string> HandshakeCause(std::string_view line) {
  if (!line.starts_with("Handshake failed with fatal error")) {
    return std::nullopt;
  }
  return TlsCause(line).value_or(std::string(line));
}

}  // namespace skerry::transport
