#include "compression/top_k/cpu/finite.h"

#include "compression/top_k/cpu/select.h"

namespace skerry::compression::cpu {

bool AllFinite(std::span<const float> values) {
  return CountAtLeast(values, kInfinityBits) == 0;
}

}  // namespace skerry::compression::cpu
