#include "compression/cpu/finite.h"

#include "compression/cpu/select.h"

namespace skerry::compression::cpu {

bool AllFinite(std::span<const float> values) {
  return CountAtLeast(values, kInfinityBits) == 0;
}

}  // namespace skerry::compression::cpu
