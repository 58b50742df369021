#include "worker/main/own_addresses.h"

#include "absl/strings/str_cat.h"
#include "transport/address.h"

namespace skerry::worker {
namespace {

// Where this machine's own workers reach one that listens on all addresses and
// names none, because others cannot reach it.
std::string LocalAddress(const std::string& listening) {
  return absl::StrCat("127.0.0.1", listening.substr(listening.rfind(':')));
}

}  // namespace

OwnAddresses AddressesOf(const std::vector<std::string>& advertised,
                         const std::string& wanted,
                         const std::string& listening) {
  OwnAddresses own{advertised, listening};
  if (own.outside.empty()) {
    own.outside = {transport::IsWildcard(listening) ? LocalAddress(listening)
                                                    : listening};
  }
  if (transport::IsWildcard(wanted)) own.inside = own.outside.front();
  return own;
}

}  // namespace skerry::worker
