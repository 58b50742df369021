#include "transport/loopback.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "transport/address.h"

namespace skerry::transport {
namespace {

absl::string_view ToAbsl(std::string_view text) {
  return absl::string_view(text.data(), text.size());
}

bool IsLoopbackHost(const std::string& host) {
  if (host == "localhost") return true;
  in_addr v4;
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) {
    return (ntohl(v4.s_addr) >> 24) == 127;
  }
  in6_addr v6;
  return inet_pton(AF_INET6, host.c_str(), &v6) == 1 &&
         IN6_IS_ADDR_LOOPBACK(&v6);
}

}  // namespace

absl::Status RequireLoopback(std::string_view address) {
  SKERRY_RETURN_IF_ERROR(CheckAddress(address, AddressUse::kListen));
  if (IsUnixAddress(address) || IsLoopbackHost(HostOf(address))) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "\"", ToAbsl(address),
      "\" can be reached from other machines, which takes a certificate of the "
      "cluster; without one use 127.0.0.1:PORT, localhost:PORT, [::1]:PORT or "
      "unix:PATH"));
}

absl::Status CheckListen(std::string_view address, bool may_leave) {
  return may_leave ? CheckAddress(address, AddressUse::kListen)
                   : RequireLoopback(address);
}

}  // namespace skerry::transport
