#include "research/reduce/one_bit_all_reduce.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace skerry::compression {
namespace {

// A piece is the length of a payload, the payload, and zeros to the length of
// all pieces.
constexpr size_t kLengthBytes = sizeof(uint32_t);
// The length that says that there is none, since something was refused.
constexpr uint32_t kRefused = std::numeric_limits<uint32_t>::max();

// A vote against a step. The sum of votes is 0 only if nobody has cast one,
// whatever else somebody adds to it.
constexpr float kAgainst = std::numeric_limits<float>::infinity();

}  // namespace

absl::StatusOr<std::unique_ptr<OneBitAllReduce>> OneBitAllReduce::Create(
    size_t elements, CodecId codec, Collective& group,
    ParallelExecutor& executor) {
  SKERRY_ASSIGN_OR_RETURN(const Codec* found, FindCodec(codec));
  const std::string name(CodecName(codec));
  if (IsSparse(codec)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a mean in two phases takes a dense codec, not ", name));
  }
  size_t most = 0;
  for (int rank = 0; rank < group.size(); ++rank) {
    const auto [begin, end] = OneBitMean::PartOf(elements, group.size(), rank);
    most = std::max(most, found->MaxEncodedBytes(end - begin));
  }
  if (most >= kRefused) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, " makes ", most, " bytes of what one of ", group.size(),
        " members owns of ", elements,
        " values, and a mean in two phases moves less than 4 GiB at a time"));
  }
  return std::unique_ptr<OneBitAllReduce>(new OneBitAllReduce(
      elements, codec, group, kLengthBytes + most, executor));
}

OneBitAllReduce::OneBitAllReduce(size_t elements, CodecId codec,
                                 Collective& group, size_t piece_bytes,
                                 ParallelExecutor& executor)
    : group_(group),
      mean_(elements, group.size(), group.rank(), codec, executor),
      piece_bytes_(piece_bytes),
      payloads_(static_cast<size_t>(group.size())),
      to_(piece_bytes_ * payloads_.size()),
      from_(to_.size()),
      votes_(kObjections * payloads_.size()) {}

void OneBitAllReduce::Put(const OneBitMean::Payload* payload, size_t piece) {
  const auto out = std::span(to_).subspan(piece * piece_bytes_, piece_bytes_);
  const uint32_t length =
      payload == nullptr ? kRefused : static_cast<uint32_t>(payload->size());
  std::memcpy(out.data(), &length, kLengthBytes);
  auto at = out.begin() + kLengthBytes;
  if (payload != nullptr) at = std::copy(payload->begin(), payload->end(), at);
  std::fill(at, out.end(), std::byte{0});
}

bool OneBitAllReduce::Take() {
  for (size_t rank = 0; rank < payloads_.size(); ++rank) {
    const auto piece =
        std::span(from_).subspan(rank * piece_bytes_, piece_bytes_);
    uint32_t length;
    std::memcpy(&length, piece.data(), kLengthBytes);
    // kRefused is longer than any.
    if (length > piece_bytes_ - kLengthBytes) return false;
    payloads_[rank].assign(piece.begin() + kLengthBytes,
                           piece.begin() + kLengthBytes + length);
  }
  return true;
}

OneBitAllReduce::Objection OneBitAllReduce::Reduce() {
  if (!Take()) return kPayload;
  const absl::Status reduced = mean_.Reduce(payloads_, result_);
  if (reduced.ok()) return kNone;
  return absl::IsInvalidArgument(reduced) ? kMean : kPayload;
}

absl::Status OneBitAllReduce::Vote(Objection objection) {
  const auto size = static_cast<size_t>(group_.size());
  std::fill(votes_.begin(), votes_.end(), 0.0f);
  const auto own = static_cast<size_t>(group_.rank());
  const auto object = [&] {
    if (objection != kNone) votes_[objection * size + own] = kAgainst;
  };
  object();
  SKERRY_RETURN_IF_ERROR(group_.AllReduceSum(votes_));
  // What cannot be kept is not, even if the group has lost the vote.
  object();
  size_t at = 0;
  while (at < votes_.size() && votes_[at] == 0.0f) ++at;
  const size_t rank = at % size;
  switch (at / size) {
    case kValues:
      return absl::InvalidArgumentError(
          absl::StrCat("the values of rank ", rank, " are not finite"));
    case kMean:
      return absl::InvalidArgumentError(
          absl::StrCat("the mean that rank ", rank, " owns is not finite"));
    case kPayload:
      return absl::DataLossError(
          absl::StrCat("rank ", rank, " was given what is no encoding"));
    case kResult:
      return absl::DataLossError(absl::StrCat(
          "rank ", rank, " was given a result that is no encoding"));
    default:
      return absl::OkStatus();
  }
}

absl::Status OneBitAllReduce::Mean(std::span<float> values) {
  Objection objection = mean_.Send(values, payloads_).ok() ? kNone : kValues;
  for (size_t owner = 0; owner < payloads_.size(); ++owner) {
    Put(objection == kNone ? &payloads_[owner] : nullptr, owner);
  }
  SKERRY_RETURN_IF_ERROR(group_.AllToAll(to_, from_));
  if (objection == kNone) objection = Reduce();
  Put(objection == kNone ? &result_ : nullptr, 0);
  SKERRY_RETURN_IF_ERROR(
      group_.AllGather(std::span(to_).first(piece_bytes_), from_));
  if (objection == kNone &&
      !(Take() && mean_.Receive(payloads_, values).ok())) {
    objection = kResult;
  }
  SKERRY_RETURN_IF_ERROR(Vote(objection));
  mean_.Keep();
  return absl::OkStatus();
}

}  // namespace skerry::compression
