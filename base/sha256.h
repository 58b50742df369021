// base/sha256.h
//
// SHA-256 for content that names itself: data shards, checkpoints.
#ifndef SKERRY_BASE_SHA256_H_
#define SKERRY_BASE_SHA256_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace skerry {

// Feeds bytes in any number of pieces.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void Update(std::span<const std::byte> bytes);
  // 64 lower-case hex digits. The object is spent afterwards.
  std::string HexDigest() &&;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string Sha256Hex(std::span<const std::byte> bytes);

// Whether `text` could be such a hash: 64 lower-case hex digits.
bool IsSha256Hex(std::string_view text);

}  // namespace skerry

#endif  // SKERRY_BASE_SHA256_H_
