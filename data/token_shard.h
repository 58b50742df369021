// data/token_shard.h
//
// Token shards as llm.c writes them, of two or four bytes a token: see
// docs/formats/token_shard.md.
#ifndef SKERRY_DATA_TOKEN_SHARD_H_
#define SKERRY_DATA_TOKEN_SHARD_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "data/token_array.h"

namespace skerry::data {

inline constexpr int32_t kTokenShardMagic = 20240520;
inline constexpr int32_t kTokenShardVersion = 1;
// Magic number and version of shards with four bytes a token.
inline constexpr int32_t kWideTokenShardMagic = 20240801;
inline constexpr int32_t kWideTokenShardVersion = 7;
inline constexpr size_t kTokenShardHeaderBytes = 256 * sizeof(int32_t);
inline constexpr uint64_t kTokenShardTokensMax = 2147483647;

// Returns the bytes of a shard. Errors: InvalidArgument above
// kTokenShardTokensMax.
absl::StatusOr<std::string> EncodeTokenShard(std::span<const uint16_t> tokens);
absl::StatusOr<std::string> EncodeWideTokenShard(
    std::span<const uint32_t> tokens);
// Vocabularies up to here fit two bytes a token.
inline constexpr int kNarrowVocabMax = 65536;
// Two bytes a token where the vocabulary fits, else four. Requires: tokens lie
// in [0, vocab_size).
absl::StatusOr<std::string> EncodeShardOf(std::span<const int32_t> tokens,
                                          int vocab_size);
// These give the same bytes in pieces: the header of a shard with this many
// tokens, and tokens as they follow it. Requires: at most kTokenShardTokensMax
// tokens.
std::string EncodeShardHeader(uint64_t tokens, int vocab_size);
void AppendShardTokens(std::span<const int32_t> tokens, int vocab_size,
                       std::string& bytes);
size_t ShardTokenBytes(int vocab_size);

// A read-only view of a shard that lies in memory, usually mapped from a file.
// The bytes are borrowed and must outlive the view. Copying is cheap.
class TokenShard {
 public:
  // Any bytes may be given. Errors: InvalidArgument with one line that says
  // what is wrong, when they are not exactly one shard.
  static absl::StatusOr<TokenShard> Parse(std::span<const std::byte> bytes);

  uint64_t size() const { return payload_.size() / token_bytes_; }
  // Two or four.
  int token_bytes() const { return static_cast<int>(token_bytes_); }
  TokenArray array() const {
    return {payload_, token_bytes_ == 2 ? ItemType::kU16 : ItemType::kU32};
  }
  // Copies tokens [begin, begin + out.size()); one above 2^31 - 1 becomes
  // negative. Requires: they exist.
  void Read(uint64_t begin, std::span<int32_t> out) const;
  // Returns the bytes of tokens [begin, begin + count). Requires: they exist.
  std::span<const std::byte> BytesOf(uint64_t begin, uint64_t count) const {
    return payload_.subspan(begin * token_bytes_, count * token_bytes_);
  }

 private:
  TokenShard(std::span<const std::byte> payload, size_t token_bytes)
      : payload_(payload), token_bytes_(token_bytes) {}
  std::span<const std::byte> payload_;
  size_t token_bytes_;
};

}  // namespace skerry::data

#endif  // SKERRY_DATA_TOKEN_SHARD_H_
