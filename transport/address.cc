#include "transport/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "base/bounded_number.h"

namespace skerry::transport {
namespace {

constexpr int kPortMax = 65535;

absl::Status Wrong(std::string_view address, const std::string& what) {
  return absl::InvalidArgumentError(
      absl::StrCat(QuotedForMessage(address), " ", what));
}

}  // namespace

bool IsUnixAddress(std::string_view address) {
  for (const std::string_view kind : {"unix:", "unix-abstract:"}) {
    if (address.starts_with(kind) && address.size() > kind.size()) return true;
  }
  return false;
}

std::string HostOf(std::string_view address) {
  if (IsUnixAddress(address)) return "";
  std::string_view host = address.substr(0, address.rfind(':'));
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  return std::string(host);
}

bool IsWildcard(std::string_view address) {
  const std::string host = HostOf(address);
  in_addr v4;
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1)
    return v4.s_addr == INADDR_ANY;
  in6_addr v6;
  return inet_pton(AF_INET6, host.c_str(), &v6) == 1 &&
         IN6_IS_ADDR_UNSPECIFIED(&v6);
}

absl::Status CheckAddress(std::string_view address, AddressUse use) {
  if (IsUnixAddress(address)) return absl::OkStatus();
  const size_t scheme = address.find("://");
  if (scheme != std::string_view::npos) {
    return Wrong(address,
                 absl::StrCat("is a URL: write HOST:PORT, without \"",
                              std::string(address.substr(0, scheme)), "://\""));
  }
  const size_t colon = address.rfind(':');
  // An IPv6 address without brackets has colons of its own.
  const bool in_brackets = address.starts_with('[');
  if (!in_brackets && address.find(':') != colon) {
    return Wrong(address,
                 "is no HOST:PORT: an IPv6 address stands in brackets, as in "
                 "[::1]:7443");
  }
  if (colon == std::string_view::npos || colon + 1 == address.size() ||
      (in_brackets && address[colon - 1] != ']')) {
    return Wrong(address, "has no port: write HOST:PORT, as in 127.0.0.1:7443");
  }
  if (HostOf(address).empty()) {
    return Wrong(address, "has no host: write HOST:PORT, as in 127.0.0.1:7443");
  }
  const int lowest = use == AddressUse::kListen ? 0 : 1;
  const absl::Status port =
      ReadNumber<int>(address.substr(colon + 1), {lowest, kPortMax}).status();
  if (port.ok()) return port;
  return Wrong(address,
               absl::StrCat("is no HOST:PORT: the port ", port.message()));
}

}  // namespace skerry::transport
