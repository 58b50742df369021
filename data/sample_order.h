// data/sample_order.h
//
// Gives the sample at each position of a run. Every epoch is a permutation of
// the samples, drawn from the seed. Any position is found in constant expected
// time and memory, so any machine can begin anywhere.
#ifndef SKERRY_DATA_SAMPLE_ORDER_H_
#define SKERRY_DATA_SAMPLE_ORDER_H_

#include <cstdint>

namespace skerry::data {

// A bijection of [0, count) onto itself chosen by `key`: a balanced Feistel
// network on the smallest even number of bits that holds `count`, applied
// again until the value lies in range (cycle walking). The domain is below
// 4 * count, so a value takes fewer than four turns on average.
class KeyedPermutation {
 public:
  // Requires: 1 <= count <= 2^62.
  KeyedPermutation(uint64_t count, uint64_t key);

  // Requires: index < count.
  uint64_t operator()(uint64_t index) const;

 private:
  uint64_t Encrypt(uint64_t value) const;

  uint64_t count_;
  uint64_t key_;
  int half_bits_;
  uint64_t half_mask_;
};

struct SamplePlace {
  uint64_t epoch = 0;
  uint64_t sample = 0;
  friend bool operator==(const SamplePlace&, const SamplePlace&) = default;
};

// The run goes through all samples once an epoch, each epoch in an order of
// its own. Position p belongs to epoch p / sample_count.
class SampleOrder {
 public:
  // Requires: 1 <= sample_count <= 2^62.
  SampleOrder(uint64_t sample_count, uint64_t seed);
  SamplePlace At(uint64_t position) const;
  uint64_t sample_count() const { return sample_count_; }

 private:
  uint64_t sample_count_;
  uint64_t seed_;
};

}  // namespace skerry::data

#endif  // SKERRY_DATA_SAMPLE_ORDER_H_
