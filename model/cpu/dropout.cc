#include "model/cpu/dropout.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/cpu/dropout.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
// After highway.h, once for each target.
#include "model/cpu/dropout-inl.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::model::cpu {
namespace HWY_NAMESPACE {
namespace {

void Drop(const DropoutMask& mask, size_t first, size_t rows, size_t width,
          const float* in, float* out) {
  constexpr size_t kPiece = 256;
  float factors[kPiece + kDropoutSlack];
  for (size_t r = 0; r < rows; ++r) {
    for (size_t begin = 0; begin < width; begin += kPiece) {
      const size_t count = std::min(kPiece, width - begin);
      FillDropoutFactors(mask, first + r, begin, count, factors);
      const float* from = in + r * width + begin;
      float* to = out + r * width + begin;
      for (size_t i = 0; i < count; ++i) to[i] = from[i] * factors[i];
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::model::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace skerry::model::cpu {
HWY_EXPORT(Drop);

void Dropout(const DropoutMask& mask, size_t first, size_t rows, size_t width,
             const float* in, float* out) {
  HWY_DYNAMIC_DISPATCH(Drop)(mask, first, rows, width, in, out);
}

}  // namespace skerry::model::cpu
#endif  // HWY_ONCE
