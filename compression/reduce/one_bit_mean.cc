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

void KeepLost(const std::vector<float>& sum, const std::vector<float>& sent,
              std::vector<float>& error) {
  for (size_t i = 0; i < error.size(); ++i) error[i] = sum[i] - sent[i];
}

}  // namespace

OneBitMean::OneBitMean(size_t elements, int members, int rank, CodecId codec)
    : elements_(elements),
      members_(members),
      codec_(DenseCodecOf(codec)),
      member_error_(elements, 0.0f),
      sum_(elements),
      sent_(elements) {
  SKERRY_CHECK(rank >= 0 && rank < members);
  const auto [begin, end] = Part(rank);
  owner_error_.assign(end - begin, 0.0f);
  owner_sum_.resize(end - begin);
  owner_sent_.resize(end - begin);
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
  given_ = reduced_ = false;
  for (size_t i = 0; i < elements_; ++i) sum_[i] = x[i] + member_error_[i];
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
  const auto members = static_cast<float>(members_);
  for (size_t i = 0; i < owner_sum_.size(); ++i) {
    owner_sum_[i] = owner_sum_[i] / members + owner_error_[i];
  }
  SKERRY_RETURN_IF_ERROR(codec_.Encode(owner_sum_, result, workspace_));
  SKERRY_RETURN_IF_ERROR(codec_.Decode(result, owner_sent_, workspace_));
  reduced_ = true;
  return absl::OkStatus();
}

absl::Status OneBitMean::Receive(std::span<const Payload> results,
                                 std::span<float> out) {
  SKERRY_CHECK(results.size() == static_cast<size_t>(members_));
  SKERRY_CHECK(out.size() == elements_);
  for (int owner = 0; owner < members_; ++owner) {
    const auto [begin, end] = Part(owner);
    SKERRY_RETURN_IF_ERROR(codec_.Decode(results[static_cast<size_t>(owner)],
                                         out.subspan(begin, end - begin),
                                         workspace_));
  }
  if (given_) KeepLost(sum_, sent_, member_error_);
  if (reduced_) KeepLost(owner_sum_, owner_sent_, owner_error_);
  given_ = reduced_ = false;
  return absl::OkStatus();
}

void OneBitMean::Reset() {
  given_ = reduced_ = false;
  std::fill(member_error_.begin(), member_error_.end(), 0.0f);
  std::fill(owner_error_.begin(), owner_error_.end(), 0.0f);
}

}  // namespace skerry::compression
