#include "compression/reduce/one_bit_all_reduce.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"

namespace skerry::compression {
namespace {

// A piece is the length of a payload, the payload, and zeros to the length of
// all pieces.
constexpr size_t kLengthBytes = sizeof(uint32_t);
// The length that says that there is none, since something was refused.
constexpr uint32_t kRefused = std::numeric_limits<uint32_t>::max();

size_t PieceBytes(const OneBitMean& mean, const Codec& codec, int members) {
  size_t most = 0;
  for (int owner = 0; owner < members; ++owner) {
    const auto [begin, end] = mean.Part(owner);
    most = std::max(most, codec.MaxEncodedBytes(end - begin));
  }
  SKERRY_CHECK(most < kRefused);
  return kLengthBytes + most;
}

void Put(const OneBitMean::Payload* payload, std::span<std::byte> piece) {
  const uint32_t length =
      payload == nullptr ? kRefused : static_cast<uint32_t>(payload->size());
  std::memcpy(piece.data(), &length, kLengthBytes);
  auto at = piece.begin() + kLengthBytes;
  if (payload != nullptr) at = std::copy(payload->begin(), payload->end(), at);
  std::fill(at, piece.end(), std::byte{0});
}

}  // namespace

OneBitAllReduce::OneBitAllReduce(size_t elements, CodecId codec,
                                 Collective& group)
    : group_(group),
      mean_(elements, group.size(), group.rank(), codec),
      piece_bytes_(PieceBytes(mean_, **FindCodec(codec), group.size())),
      payloads_(static_cast<size_t>(group.size())),
      to_(piece_bytes_ * payloads_.size()),
      from_(to_.size()) {}

absl::Status OneBitAllReduce::Take() {
  for (size_t rank = 0; rank < payloads_.size(); ++rank) {
    const auto piece =
        std::span(from_).subspan(rank * piece_bytes_, piece_bytes_);
    uint32_t length;
    std::memcpy(&length, piece.data(), kLengthBytes);
    if (length == kRefused) {
      return absl::AbortedError(absl::StrCat("rank ", rank));
    }
    if (length > piece_bytes_ - kLengthBytes) {
      return absl::DataLossError(
          absl::StrCat("rank ", rank, " gave a payload of ", length, " bytes"));
    }
    payloads_[rank].assign(piece.begin() + kLengthBytes,
                           piece.begin() + kLengthBytes + length);
  }
  return absl::OkStatus();
}

absl::Status OneBitAllReduce::Mean(std::span<float> values) {
  const absl::Status sent = mean_.Send(values, payloads_);
  for (size_t owner = 0; owner < payloads_.size(); ++owner) {
    Put(sent.ok() ? &payloads_[owner] : nullptr,
        std::span(to_).subspan(owner * piece_bytes_, piece_bytes_));
  }
  SKERRY_RETURN_IF_ERROR(group_.AllToAll(to_, from_));
  SKERRY_RETURN_IF_ERROR(sent);
  absl::Status reduced = Take();
  if (absl::IsAborted(reduced)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the values of ", reduced.message(), " are not finite"));
  }
  if (reduced.ok()) reduced = mean_.Reduce(payloads_, result_);
  const auto piece = std::span(to_).first(piece_bytes_);
  Put(reduced.ok() ? &result_ : nullptr, piece);
  SKERRY_RETURN_IF_ERROR(group_.AllGather(piece, from_));
  SKERRY_RETURN_IF_ERROR(reduced);
  if (const absl::Status taken = Take(); !taken.ok()) {
    return absl::DataLossError(
        absl::StrCat(taken.message(), " was given what is no encoding"));
  }
  return mean_.Receive(payloads_, values);
}

}  // namespace skerry::compression
