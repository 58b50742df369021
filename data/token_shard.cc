#include "data/token_shard.h"

#include <bit>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace skerry::data {
namespace {

static_assert(std::endian::native == std::endian::little,
              "shards are little endian and are read in place");

int32_t HeaderWord(std::span<const std::byte> bytes, size_t index) {
  int32_t word;
  std::memcpy(&word, bytes.data() + index * sizeof(word), sizeof(word));
  return word;
}

}  // namespace

absl::StatusOr<std::string> EncodeTokenShard(std::span<const uint16_t> tokens) {
  if (tokens.size() > kTokenShardTokensMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("a token shard holds at most ", kTokenShardTokensMax,
                     " tokens, not ", tokens.size(), "; write several"));
  }
  std::string bytes(kTokenShardHeaderBytes + tokens.size_bytes(), '\0');
  const int32_t words[3] = {kTokenShardMagic, kTokenShardVersion,
                            static_cast<int32_t>(tokens.size())};
  std::memcpy(bytes.data(), words, sizeof(words));
  if (!tokens.empty()) {
    std::memcpy(bytes.data() + kTokenShardHeaderBytes, tokens.data(),
                tokens.size_bytes());
  }
  return bytes;
}

absl::StatusOr<TokenShard> TokenShard::Parse(std::span<const std::byte> bytes) {
  if (bytes.size() < kTokenShardHeaderBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "token shard is ", bytes.size(), " bytes, shorter than its header of ",
        kTokenShardHeaderBytes));
  }
  if (const int32_t magic = HeaderWord(bytes, 0); magic != kTokenShardMagic) {
    return absl::InvalidArgumentError(
        absl::StrCat("not a token shard: it begins with ", magic, ", not ",
                     kTokenShardMagic));
  }
  if (const int32_t version = HeaderWord(bytes, 1);
      version != kTokenShardVersion) {
    return absl::InvalidArgumentError(
        absl::StrCat("token shard has version ", version, "; version ",
                     kTokenShardVersion, " can be read"));
  }
  const int32_t count = HeaderWord(bytes, 2);
  const std::span<const std::byte> payload =
      bytes.subspan(kTokenShardHeaderBytes);
  if (count < 0 ||
      payload.size() != static_cast<uint64_t>(count) * sizeof(uint16_t)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "token shard announces ", count, " tokens of 2 bytes but holds ",
        payload.size(), " bytes of them; it is cut short or not uint16"));
  }
  return TokenShard(payload);
}

void TokenShard::Read(uint64_t begin, std::span<int32_t> out) const {
  SKERRY_CHECK(begin <= size() && out.size() <= size() - begin);
  const std::byte* from = payload_.data() + begin * sizeof(uint16_t);
  for (size_t i = 0; i < out.size(); ++i) {
    uint16_t token;
    std::memcpy(&token, from + i * sizeof(token), sizeof(token));
    out[i] = token;
  }
}

}  // namespace skerry::data
