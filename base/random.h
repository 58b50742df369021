// base/random.h
//
// Seeded random numbers that are the same on every machine.
#ifndef SKERRY_BASE_RANDOM_H_
#define SKERRY_BASE_RANDOM_H_

#include <cstdint>

namespace skerry {

// The finalizer of SplitMix64 (Steele, Lea, Flood 2014): a bijection whose
// output looks random for any input.
constexpr uint64_t Mix64(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// The `counter`-th number of the stream `key`: no state, so any part of a
// sequence can be drawn anywhere and in any order.
constexpr uint64_t RandomAt(uint64_t key, uint64_t counter) {
  return Mix64(Mix64(key) + counter * 0xd1342543de82ef95ull);
}

// A generator for code that wants a sequence. Usable as a C++
// UniformRandomBitGenerator.
class Random {
 public:
  using result_type = uint64_t;
  explicit constexpr Random(uint64_t seed) : key_(Mix64(seed)) {}
  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() { return ~uint64_t{0}; }
  constexpr uint64_t operator()() { return RandomAt(key_, counter_++); }
  // Uniform in [0, bound); bound > 0. The bias is below bound / 2^64.
  constexpr uint64_t Below(uint64_t bound) {
    return static_cast<uint64_t>(
        (static_cast<unsigned __int128>((*this)()) * bound) >> 64);
  }
  // Uniform in [0, 1) with 53 bits.
  constexpr double Uniform() {
    return static_cast<double>((*this)() >> 11) * 0x1.0p-53;
  }

 private:
  uint64_t key_;
  uint64_t counter_ = 0;
};

}  // namespace skerry

#endif  // SKERRY_BASE_RANDOM_H_
