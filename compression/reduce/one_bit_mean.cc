#include "compression/reduce/one_bit_mean.h"

#include <algorithm>

#include "base/check.h"
#include "base/status.h"

namespace skerry::compression {
namespace {

constexpr size_t kBlock = 256;

const Codec& DenseCodecOf(CodecId id) {
  const auto codec = FindCodec(id);
  SKERRY_CHECK(codec.ok());
  return **codec;
}

}  // namespace

OneBitMean::OneBitMean(size_t elements, int members, int rank, CodecId codec)
    : elements_(elements),
      members_(members),
      codec_(DenseCodecOf(codec)),
      member_error_(elements, 0.0f) {
  SKERRY_CHECK(rank >= 0 && rank < members);
  const auto [begin, end] = Part(rank);
  owner_error_.assign(end - begin, 0.0f);
}

std::pair<size_t, size_t> OneBitMean::Part(int rank) const {
  const size_t blocks = (elements_ + kBlock - 1) / kBlock;
  const auto edge = [&](size_t at) {
    const size_t block = blocks * at / static_cast<size_t>(members_);
    return std::min(block * kBlock, elements_);
  };
  const auto r = static_cast<size_t>(rank);
  return {edge(r), edge(r + 1)};
}

absl::Status OneBitMean::Send(std::span<const float> x,
                              std::vector<Payload>& to_owners) {
  SKERRY_CHECK(x.size() == elements_);
  std::vector<float> sum(elements_);
  for (size_t i = 0; i < elements_; ++i) sum[i] = x[i] + member_error_[i];
  std::vector<float> sent(elements_);
  to_owners.resize(static_cast<size_t>(members_));
  for (int owner = 0; owner < members_; ++owner) {
    const auto [begin, end] = Part(owner);
    Payload& payload = to_owners[static_cast<size_t>(owner)];
    SKERRY_RETURN_IF_ERROR(codec_.Encode(
        std::span<const float>(sum).subspan(begin, end - begin), payload));
    SKERRY_RETURN_IF_ERROR(
        codec_.Decode(payload, std::span(sent).subspan(begin, end - begin)));
  }
  for (size_t i = 0; i < elements_; ++i) member_error_[i] = sum[i] - sent[i];
  return absl::OkStatus();
}

absl::Status OneBitMean::Reduce(std::span<const Payload> from_members,
                                Payload& result) {
  SKERRY_CHECK(from_members.size() == static_cast<size_t>(members_));
  std::vector<float> sum(owner_error_.size(), 0.0f);
  for (const Payload& payload : from_members) {
    SKERRY_RETURN_IF_ERROR(codec_.DecodeAdd(payload, sum));
  }
  const auto members = static_cast<float>(members_);
  for (size_t i = 0; i < sum.size(); ++i) {
    sum[i] = sum[i] / members + owner_error_[i];
  }
  SKERRY_RETURN_IF_ERROR(codec_.Encode(sum, result));
  std::vector<float> sent(sum.size());
  SKERRY_RETURN_IF_ERROR(codec_.Decode(result, sent));
  for (size_t i = 0; i < sum.size(); ++i) owner_error_[i] = sum[i] - sent[i];
  return absl::OkStatus();
}

absl::Status OneBitMean::Receive(std::span<const Payload> results,
                                 std::span<float> out) const {
  SKERRY_CHECK(results.size() == static_cast<size_t>(members_));
  SKERRY_CHECK(out.size() == elements_);
  for (int owner = 0; owner < members_; ++owner) {
    const auto [begin, end] = Part(owner);
    SKERRY_RETURN_IF_ERROR(codec_.Decode(results[static_cast<size_t>(owner)],
                                         out.subspan(begin, end - begin)));
  }
  return absl::OkStatus();
}

void OneBitMean::Reset() {
  std::fill(member_error_.begin(), member_error_.end(), 0.0f);
  std::fill(owner_error_.begin(), owner_error_.end(), 0.0f);
}

}  // namespace skerry::compression
