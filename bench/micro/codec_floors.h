// bench/micro/codec_floors.h
//
// Benches compare codecs with these loops, which use buffers like those of
// codecs.
#ifndef SKERRY_BENCH_MICRO_CODEC_FLOORS_H_
#define SKERRY_BENCH_MICRO_CODEC_FLOORS_H_

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "base/executor.h"
#include "bench/micro/in_turns.h"

namespace skerry::bench {

// Holds 64 MiB of values, a payload, and room for decoded values, in several
// sets that calls use in turn. With one set, threads would find what they wrote
// in the caches of a few tens of MiB that processors have.
class Buffers {
 public:
  static constexpr size_t kElements = size_t{1} << 24;
  static constexpr size_t kSets = 4;

  struct Set {
    std::vector<float> values;
    std::vector<std::byte> payload;
    std::vector<float> decoded;
  };

  explicit Buffers(const std::vector<float>& values);

  Set& Next() { return sets_[turn_++ % kSets]; }
  std::span<Set> sets() { return sets_; }

 private:
  std::array<Set, kSets> sets_;
  size_t turn_ = 0;
};

// Which of a few loops is the fastest depends on the machine and the sizes.
using Floors = std::vector<InTurns::Work>;

// Each call of a loop uses the next set of buffers. Payloads have the size of
// the codec's.
class CodecFloors {
 public:
  // Both outlive all loops.
  CodecFloors(Buffers& buffers, ParallelExecutor& executor)
      : buffers_(buffers), executor_(executor) {}

  Floors Encoders(bool sparse);
  Floors Decoders(bool sparse);
  // Where so many values were sent.
  Floors Adders(size_t sent);

 private:
  // What a loop is called with, of one part.
  struct Part {
    size_t index;
    std::span<const std::byte> values;
    std::span<std::byte> payload;
    std::span<float> decoded;

    std::span<std::byte> Decoded() const {
      return std::as_writable_bytes(decoded);
    }
  };

  // Calls loop(Part) for all of the next set.
  template <typename Loop>
  InTurns::Work Floor(Loop loop, size_t part_bytes);

  Buffers& buffers_;
  ParallelExecutor& executor_;
};

}  // namespace skerry::bench

#endif  // SKERRY_BENCH_MICRO_CODEC_FLOORS_H_
