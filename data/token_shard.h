// data/token_shard.h
//
// Token shards as llm.c writes them: see docs/formats/token_shard.md.
#ifndef SKERRY_DATA_TOKEN_SHARD_H_
#define SKERRY_DATA_TOKEN_SHARD_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "absl/status/statusor.h"

namespace skerry::data {

inline constexpr int32_t kTokenShardMagic = 20240520;
inline constexpr int32_t kTokenShardVersion = 1;
inline constexpr size_t kTokenShardHeaderBytes = 256 * sizeof(int32_t);
inline constexpr uint64_t kTokenShardTokensMax = 2147483647;

// The bytes of a shard. Errors: InvalidArgument above kTokenShardTokensMax.
absl::StatusOr<std::string> EncodeTokenShard(std::span<const uint16_t> tokens);

// A read-only view of a shard that lies in memory, usually mapped from a file.
// The bytes are borrowed and must outlive the view. Copying is cheap.
class TokenShard {
 public:
  // Any bytes may be given. Errors: InvalidArgument with one line that says
  // what is wrong, when they are not exactly one shard.
  static absl::StatusOr<TokenShard> Parse(std::span<const std::byte> bytes);

  uint64_t size() const { return payload_.size() / sizeof(uint16_t); }
  // Copies tokens [begin, begin + out.size()). Requires: they exist.
  void Read(uint64_t begin, std::span<int32_t> out) const;

 private:
  explicit TokenShard(std::span<const std::byte> payload) : payload_(payload) {}
  std::span<const std::byte> payload_;
};

}  // namespace skerry::data

#endif  // SKERRY_DATA_TOKEN_SHARD_H_
