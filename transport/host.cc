#include "transport/host.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/bounded_number.h"
#include "transport/address.h"

namespace skerry::transport {
namespace {

// The longest name of the domain name system.
constexpr size_t kHostMax = 253;

absl::Status Wrong(std::string_view host, const std::string& what) {
  return absl::InvalidArgumentError(
      absl::StrCat(QuotedForMessage(host), " ", what));
}

}  // namespace

absl::Status CheckHost(std::string_view host) {
  in6_addr v6;
  const bool is_v6 = inet_pton(AF_INET6, std::string(host).c_str(), &v6) == 1;
  for (const char c : host) {
    if (is_v6 || absl::ascii_isalnum(c) || c == '.' || c == '-' || c == '_') {
      continue;
    }
    return Wrong(host,
                 "is no host: write a name or an IP address, without a port");
  }
  if (host.empty() || host.size() > kHostMax) {
    return Wrong(host, absl::StrCat("is no host: it has to have 1 to ",
                                    kHostMax, " characters"));
  }
  if (IsWildcard(WithPort(host, 0))) {
    return Wrong(host,
                 "stands for every address of a machine: write the one that "
                 "others connect to");
  }
  return absl::OkStatus();
}

std::string WithPort(std::string_view host, uint16_t port) {
  const bool is_v6 = host.find(':') != std::string_view::npos;
  return absl::StrCat(is_v6 ? "[" : "", std::string(host), is_v6 ? "]:" : ":",
                      port);
}

}  // namespace skerry::transport
