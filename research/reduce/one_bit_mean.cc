#include "research/reduce/one_bit_mean.h"

#include <algorithm>

#include "base/check.h"
#include "base/status.h"
#include "compression/parts.h"

namespace skerry::compression {
namespace {

constexpr size_t kBlock = 256;

const Codec& DenseCodecOf(CodecId id) {
  const auto codec = FindCodec(id);
  SKERRY_CHECK(codec.ok());
  return **codec;
}

void Add(std::span<const float> a, std::span<const float> b,
         std::span<float> sum, ParallelExecutor& executor) {
  EveryPart(sum.size(), executor, [&](size_t begin, size_t end) {
    const float* __restrict x = a.data();
    const float* __restrict y = b.data();
    float* __restrict out = sum.data();
    for (size_t i = begin; i < end; ++i) out[i] = x[i] + y[i];
    return true;
  });
}

// sum = sum / members + error.
void MeanAndError(float members, std::span<const float> error,
                  std::span<float> sum, ParallelExecutor& executor) {
  EveryPart(sum.size(), executor, [&](size_t begin, size_t end) {
    const float* __restrict kept = error.data();
    float* __restrict out = sum.data();
    for (size_t i = begin; i < end; ++i) out[i] = out[i] / members + kept[i];
    return true;
  });
}

void KeepLost(std::span<const float> sum, std::span<const float> sent,
              std::span<float> error, ParallelExecutor& executor) {
  EveryPart(error.size(), executor, [&](size_t begin, size_t end) {
    const float* __restrict whole = sum.data();
    const float* __restrict told = sent.data();
    float* __restrict out = error.data();
    for (size_t i = begin; i < end; ++i) out[i] = whole[i] - told[i];
    return true;
  });
}

}  // namespace

OneBitMean::OneBitMean(size_t elements, int members, int rank, CodecId codec,
                       ParallelExecutor& executor)
    : elements_(elements),
      members_(members),
      codec_(DenseCodecOf(codec)),
      member_error_(elements, 0.0f),
      sum_(elements),
      sent_(elements),
      workspace_(executor) {
  SKERRY_CHECK(rank >= 0 && rank < members);
  const auto [begin, end] = Part(rank);
  owner_error_.assign(end - begin, 0.0f);
  owner_sum_.resize(end - begin);
  owner_sent_.resize(end - begin);
}

std::pair<size_t, size_t> OneBitMean::PartOf(size_t elements, int members,
                                             int rank) {
  const size_t blocks = (elements + kBlock - 1) / kBlock;
  const auto edge = [&](size_t at) {
    const size_t block = blocks * at / static_cast<size_t>(members);
    return std::min(block * kBlock, elements);
  };
  const auto r = static_cast<size_t>(rank);
  return {edge(r), edge(r + 1)};
}

absl::Status OneBitMean::Send(std::span<const float> x,
                              std::vector<Payload>& to_owners) {
  SKERRY_CHECK(x.size() == elements_);
  given_ = reduced_ = received_ = false;
  Add(x, member_error_, sum_, *workspace_.executor);
  to_owners.resize(static_cast<size_t>(members_));
  for (int owner = 0; owner < members_; ++owner) {
    const auto [begin, end] = Part(owner);
    Payload& payload = to_owners[static_cast<size_t>(owner)];
    const size_t size = end - begin;
    SKERRY_RETURN_IF_ERROR(codec_.Encode(std::span(sum_).subspan(begin, size),
                                         payload, workspace_));
    SKERRY_RETURN_IF_ERROR(codec_.Decode(
        payload, std::span(sent_).subspan(begin, size), workspace_));
  }
  given_ = true;
  return absl::OkStatus();
}

absl::Status OneBitMean::Reduce(std::span<const Payload> from_members,
                                Payload& result) {
  SKERRY_CHECK(from_members.size() == static_cast<size_t>(members_));
  reduced_ = false;
  std::fill(owner_sum_.begin(), owner_sum_.end(), 0.0f);
  for (const Payload& payload : from_members) {
    SKERRY_RETURN_IF_ERROR(codec_.DecodeAdd(payload, owner_sum_, workspace_));
  }
  MeanAndError(static_cast<float>(members_), owner_error_, owner_sum_,
               *workspace_.executor);
  SKERRY_RETURN_IF_ERROR(codec_.Encode(owner_sum_, result, workspace_));
  SKERRY_RETURN_IF_ERROR(codec_.Decode(result, owner_sent_, workspace_));
  reduced_ = true;
  return absl::OkStatus();
}

absl::Status OneBitMean::Receive(std::span<const Payload> results,
                                 std::span<float> out) {
  SKERRY_CHECK(results.size() == static_cast<size_t>(members_));
  SKERRY_CHECK(out.size() == elements_);
  received_ = false;
  for (int owner = 0; owner < members_; ++owner) {
    const auto [begin, end] = Part(owner);
    SKERRY_RETURN_IF_ERROR(codec_.Decode(results[static_cast<size_t>(owner)],
                                         out.subspan(begin, end - begin),
                                         workspace_));
  }
  received_ = true;
  return absl::OkStatus();
}

void OneBitMean::Keep() {
  SKERRY_CHECK(given_ && reduced_ && received_);
  KeepLost(sum_, sent_, member_error_, *workspace_.executor);
  KeepLost(owner_sum_, owner_sent_, owner_error_, *workspace_.executor);
  given_ = reduced_ = received_ = false;
}

void OneBitMean::Reset() {
  given_ = reduced_ = received_ = false;
  std::fill(member_error_.begin(), member_error_.end(), 0.0f);
  std::fill(owner_error_.begin(), owner_error_.end(), 0.0f);
}

}  // namespace skerry::compression
