#include "transport/rendezvous.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "transport/address.h"
#include "transport/host.h"

namespace skerry::transport {
namespace {

// The first words of the text; the number is the format's.
constexpr char kGroup[] = "skerry-group";
constexpr char kVersion[] = "1";
constexpr char kShm[] = "shm";
constexpr char kTcp[] = "tcp";
constexpr size_t kBytesMax = 512;

absl::Status Wrong(absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("the bootstrap bytes of the group ", why));
}

bool IsHex(absl::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isdigit(c) || (c >= 'a' && c <= 'f');
  });
}

}  // namespace

std::string EncodeRendezvous(const Rendezvous& rendezvous) {
  if (const auto* shm = std::get_if<ShmRendezvous>(&rendezvous)) {
    return absl::StrCat(kGroup, " ", kVersion, " ", kShm, " ", shm->name);
  }
  const auto& tcp = std::get<TcpRendezvous>(rendezvous);
  return absl::StrCat(kGroup, " ", kVersion, " ", kTcp, " ", tcp.endpoint, " ",
                      absl::BytesToHexString(absl::string_view(
                          reinterpret_cast<const char*>(tcp.secret.data()),
                          tcp.secret.size())));
}

absl::StatusOr<Rendezvous> DecodeRendezvous(std::string_view bytes) {
  if (bytes.size() > kBytesMax) return Wrong("are too many");
  const std::vector<std::string> words =
      absl::StrSplit(absl::string_view(bytes.data(), bytes.size()), ' ');
  if (words.size() < 4 || words[0] != kGroup) return Wrong("are none");
  if (words[1] != kVersion) {
    return Wrong("are of another release; install one release");
  }
  if (words[2] == kShm && words.size() == 4) {
    return ShmRendezvous{words[3]};
  }
  if (words[2] != kTcp || words.size() != 5) return Wrong("are none");
  TcpRendezvous tcp{words[3]};
  if (IsUnixAddress(tcp.endpoint) ||
      !CheckAddress(tcp.endpoint, AddressUse::kConnect).ok() ||
      !CheckHost(HostOf(tcp.endpoint)).ok()) {
    return Wrong("name no HOST:PORT");
  }
  if (words[4].size() != 2 * tcp.secret.size() || !IsHex(words[4])) {
    return Wrong("have no secret");
  }
  const std::string secret = absl::HexStringToBytes(words[4]);
  std::transform(secret.begin(), secret.end(), tcp.secret.begin(),
                 [](char c) { return static_cast<std::byte>(c); });
  return tcp;
}

}  // namespace skerry::transport
