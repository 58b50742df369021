// transport/fetch_wire.h
//
// The bytes of a fetch: the key that is asked for, the frame headers of the
// pieces that answer it, and why nothing answers it. docs/formats/bulk.md is
// the layout.
#ifndef SKERRY_TRANSPORT_FETCH_WIRE_H_
#define SKERRY_TRANSPORT_FETCH_WIRE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "transport/bulk.h"

namespace skerry::transport {

inline constexpr size_t kFetchKeyBytes = 48;

std::array<std::byte, kFetchKeyBytes> EncodeFetchKey(const PieceKey& key);
// Errors: InvalidArgument when the bytes are no key.
absl::StatusOr<PieceKey> DecodeFetchKey(std::span<const std::byte> bytes);

// Whether the whole object is the one that the key names. A chunk of data has
// no hash of its own: whoever asks for it knows that of the file.
bool IsObjectOf(const PieceKey& key, std::span<const std::byte> object);

// How many pieces an object of `bytes` is sent in: all but the last are full.
uint32_t FetchPieceCount(uint64_t bytes);
// Piece `index` of the object, with its header. Requires: index in range, and
// the object is smaller than 1 TiB.
Frame FetchPiece(const PieceKey& key, const SharedBytes& object,
                 uint32_t index);

// The holder's error, where it cannot be the status of the call because the
// holder opened the call: its code and the beginning of its message, with a
// question mark for each byte that does not print. Requires: not OK.
inline constexpr size_t kFetchRefusalBytesMax = 8 + 200;
std::vector<std::byte> EncodeFetchRefusal(const absl::Status& why);
// Returns that error, which is not OK; none when the bytes are no refusal.
std::optional<absl::Status> DecodeFetchRefusal(
    std::span<const std::byte> bytes);

// Puts pieces together again. Errors of both calls: DataLoss when a piece is
// damaged, out of turn or of another object, or the whole has another hash;
// ResourceExhausted when the object is above the limit.
class FetchAssembler {
 public:
  // A chunk of data is above the limit also when it is above kDataChunkBytes.
  FetchAssembler(const PieceKey& key, uint64_t object_bytes_max);
  absl::Status Add(const Frame& piece);
  absl::StatusOr<SharedBytes> Finish();
  // Whether every piece has come.
  bool IsWhole() const { return pieces_ > 0 && received_ == pieces_; }

 private:
  PieceKey key_;
  uint64_t object_bytes_max_;
  uint32_t pieces_ = 0;  // of the object; 0 until the first has come
  uint32_t received_ = 0;
  uint64_t filled_ = 0;
  std::shared_ptr<std::byte[]> bytes_;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_FETCH_WIRE_H_
