#include "compression/stateful/cached_threshold.h"

#include "base/check.h"
#include "compression/cpu/select.h"

namespace skerry::compression {

CachedThreshold::CachedThreshold(const Options& options) : options_(options) {
  SKERRY_CHECK(options.refresh_every >= 1);
}

Threshold CachedThreshold::Estimate(std::span<const float> values,
                                    size_t target) {
  if (value_ > 0.0f && age_ < options_.refresh_every) {
    ++age_;
    const Threshold kept = {
        value_, cpu::CountAtLeast(values, cpu::MagnitudeBits(value_))};
    const auto count = static_cast<double>(kept.count);
    const auto goal = static_cast<double>(target);
    if (count >= options_.count_low * goal &&
        count <= options_.count_high * goal) {
      return kept;
    }
  }
  const Threshold exact = ExactThreshold(values, target);
  value_ = exact.value;
  age_ = 1;
  ++refreshes_;
  return exact;
}

}  // namespace skerry::compression
