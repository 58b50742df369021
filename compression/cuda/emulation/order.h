// compression/cuda/emulation/order.h
//
// Decides which of several threads or blocks goes on. A device promises no
// order, so a kernel must give the same result in every order.
#ifndef SKERRY_COMPRESSION_CUDA_EMULATION_ORDER_H_
#define SKERRY_COMPRESSION_CUDA_EMULATION_ORDER_H_

#include <cstddef>
#include <cstdint>

#include "base/random.h"

namespace skerry::compression::cuda::emulation {

class Order {
 public:
  // With 0 the thread that has waited longest goes on, with 1 the one that came
  // last, and with any other number a random one.
  explicit Order(uint64_t kind) : kind_(kind), random_(kind) {}

  // One of `count`, the longest waiting first. Requires: count > 0.
  size_t Next(size_t count) {
    if (kind_ == 0) return 0;
    if (kind_ == 1) return count - 1;
    return random_.Below(count);
  }

 private:
  uint64_t kind_;
  Random random_;
};

}  // namespace skerry::compression::cuda::emulation

#endif  // SKERRY_COMPRESSION_CUDA_EMULATION_ORDER_H_
