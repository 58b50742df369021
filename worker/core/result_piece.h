// worker/core/result_piece.h
//
// Lays out the bytes of one span of a committed result, as they are hashed,
// stored and fetched. They are either the owner's encoded mean, or the frames
// of all members, which every reader sums. docs/formats/pieces.md has the
// layout.
#ifndef SKERRY_WORKER_CORE_RESULT_PIECE_H_
#define SKERRY_WORKER_CORE_RESULT_PIECE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/shared_bytes.h"
#include "compression/codec.h"

namespace skerry::worker {

enum class PieceShape : uint8_t {
  kMean = 1,     // one payload: the encoded mean
  kMembers = 2,  // a payload a member, in member order: encoded contributions
};

inline constexpr uint32_t kPiecePayloadsMax = 64;

struct PiecePayload {
  compression::CodecId codec = compression::CodecId::kRawF32;
  std::vector<SharedBytes> parts;  // in order
};

// Requires: 1 payload for kMean, else 1 to kPiecePayloadsMax.
std::vector<std::byte> WriteResultPiece(PieceShape shape,
                                        std::span<const PiecePayload> payloads);

// The mean pseudo-gradient of a piece: what the outer step reads. For kMembers
// the payloads are summed in order in fp32 and divided by `total_weight`; for
// kMean the weight is not read.
//
// Errors: DataLoss when `piece` is not a piece of mean.size() elements, an
// unknown codec included; `mean` is then unspecified.
absl::Status DecodeMean(std::span<const std::byte> piece, double total_weight,
                        std::span<float> mean);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_RESULT_PIECE_H_
