#include "data/sample_order.h"

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "base/random.h"

namespace skerry::data {
namespace {
// Four rounds make a Feistel network a strong pseudo-random permutation (Luby
// and Rackoff 1988); two more because small halves mix poorly.
constexpr int kRounds = 6;
}  // namespace

KeyedPermutation::KeyedPermutation(uint64_t count, uint64_t key)
    : count_(count), key_(key) {
  SKERRY_CHECK(count >= 1 && count <= uint64_t{1} << 62);
  half_bits_ = std::max(1, static_cast<int>(std::bit_width(count - 1) + 1) / 2);
  half_mask_ = (uint64_t{1} << half_bits_) - 1;
}

uint64_t KeyedPermutation::Encrypt(uint64_t value) const {
  uint64_t left = value >> half_bits_;
  uint64_t right = value & half_mask_;
  for (uint64_t round = 0; round < kRounds; ++round) {
    const uint64_t mixed = left ^ (RandomAt(key_ + round, right) & half_mask_);
    left = right;
    right = mixed;
  }
  return left << half_bits_ | right;
}

uint64_t KeyedPermutation::operator()(uint64_t index) const {
  SKERRY_CHECK(index < count_);
  do {
    index = Encrypt(index);
  } while (index >= count_);
  return index;
}

SampleOrder::SampleOrder(uint64_t sample_count, uint64_t seed)
    : sample_count_(sample_count), seed_(seed) {
  SKERRY_CHECK(sample_count >= 1 && sample_count <= uint64_t{1} << 62);
}

SamplePlace SampleOrder::At(uint64_t position) const {
  const uint64_t epoch = position / sample_count_;
  const KeyedPermutation permutation(sample_count_, RandomAt(seed_, epoch));
  return {epoch, permutation(position % sample_count_)};
}

}  // namespace skerry::data
