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

absl::Status TooMany(uint64_t tokens) {
  return absl::InvalidArgumentError(
      absl::StrCat("a token shard holds at most ", kTokenShardTokensMax,
                   " tokens, not ", tokens, "; write several"));
}

std::string Header(int32_t magic, int32_t version, uint64_t tokens) {
  std::string bytes(kTokenShardHeaderBytes, '\0');
  const int32_t words[3] = {magic, version, static_cast<int32_t>(tokens)};
  std::memcpy(bytes.data(), words, sizeof(words));
  return bytes;
}

template <typename Token>
absl::StatusOr<std::string> Encode(int32_t magic, int32_t version,
                                   std::span<const Token> tokens) {
  if (tokens.size() > kTokenShardTokensMax) return TooMany(tokens.size());
  std::string bytes = Header(magic, version, tokens.size());
  bytes.append(reinterpret_cast<const char*>(tokens.data()),
               tokens.size_bytes());
  return bytes;
}

template <typename Token>
void Append(std::span<const int32_t> tokens, std::string& bytes) {
  const size_t begin = bytes.size();
  bytes.resize(begin + tokens.size() * sizeof(Token));
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Token token = static_cast<Token>(tokens[i]);
    std::memcpy(bytes.data() + begin + i * sizeof(token), &token,
                sizeof(token));
  }
}

template <typename Token>
void CopyTokens(const std::byte* from, std::span<int32_t> out) {
  for (size_t i = 0; i < out.size(); ++i) {
    Token token;
    std::memcpy(&token, from + i * sizeof(token), sizeof(token));
    out[i] = static_cast<int32_t>(token);
  }
}

}  // namespace

absl::StatusOr<std::string> EncodeTokenShard(std::span<const uint16_t> tokens) {
  return Encode(kTokenShardMagic, kTokenShardVersion, tokens);
}

absl::StatusOr<std::string> EncodeWideTokenShard(
    std::span<const uint32_t> tokens) {
  return Encode(kWideTokenShardMagic, kWideTokenShardVersion, tokens);
}

absl::StatusOr<std::string> EncodeShardOf(std::span<const int32_t> tokens,
                                          int vocab_size) {
  if (tokens.size() > kTokenShardTokensMax) return TooMany(tokens.size());
  std::string bytes = EncodeShardHeader(tokens.size(), vocab_size);
  AppendShardTokens(tokens, vocab_size, bytes);
  return bytes;
}

std::string EncodeShardHeader(uint64_t tokens, int vocab_size) {
  SKERRY_CHECK(tokens <= kTokenShardTokensMax);
  return vocab_size <= kNarrowVocabMax
             ? Header(kTokenShardMagic, kTokenShardVersion, tokens)
             : Header(kWideTokenShardMagic, kWideTokenShardVersion, tokens);
}

void AppendShardTokens(std::span<const int32_t> tokens, int vocab_size,
                       std::string& bytes) {
  if (vocab_size <= kNarrowVocabMax) {
    Append<uint16_t>(tokens, bytes);
  } else {
    Append<uint32_t>(tokens, bytes);
  }
}

size_t ShardTokenBytes(int vocab_size) {
  return vocab_size <= kNarrowVocabMax ? sizeof(uint16_t) : sizeof(uint32_t);
}

absl::StatusOr<TokenShard> TokenShard::Parse(std::span<const std::byte> bytes) {
  if (bytes.size() < kTokenShardHeaderBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "token shard is ", bytes.size(), " bytes, shorter than its header of ",
        kTokenShardHeaderBytes));
  }
  const int32_t magic = HeaderWord(bytes, 0);
  const bool is_wide = magic == kWideTokenShardMagic;
  if (magic != kTokenShardMagic && !is_wide) {
    return absl::InvalidArgumentError(
        absl::StrCat("not a token shard: it begins with ", magic, ", not ",
                     kTokenShardMagic, " or ", kWideTokenShardMagic));
  }
  const int32_t readable =
      is_wide ? kWideTokenShardVersion : kTokenShardVersion;
  if (const int32_t version = HeaderWord(bytes, 1); version != readable) {
    return absl::InvalidArgumentError(absl::StrCat("token shard has version ",
                                                   version, "; version ",
                                                   readable, " can be read"));
  }
  const int32_t count = HeaderWord(bytes, 2);
  const size_t token_bytes = is_wide ? sizeof(uint32_t) : sizeof(uint16_t);
  const std::span<const std::byte> payload =
      bytes.subspan(kTokenShardHeaderBytes);
  if (count < 0 ||
      payload.size() != static_cast<uint64_t>(count) * token_bytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "token shard announces ", count, " tokens of ", token_bytes,
        " bytes but holds ", payload.size(),
        " bytes of them; it is cut short or has tokens of another size"));
  }
  return TokenShard(payload, token_bytes);
}

void TokenShard::Read(uint64_t begin, std::span<int32_t> out) const {
  SKERRY_CHECK(begin <= size() && out.size() <= size() - begin);
  const std::byte* from = payload_.data() + begin * token_bytes_;
  if (token_bytes_ == sizeof(uint16_t)) {
    CopyTokens<uint16_t>(from, out);
  } else {
    CopyTokens<uint32_t>(from, out);
  }
}

}  // namespace skerry::data
