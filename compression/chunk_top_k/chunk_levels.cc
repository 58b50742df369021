#include "compression/chunk_top_k/chunk_levels.h"

#include <bit>
#include <cmath>
#include <limits>

#include "compression/top_k/cpu/select.h"

namespace skerry::compression {
namespace {

// The least fp32 for which `holds`, which holds for all above it, too; infinite
// where there is none.
template <typename Holds>
float LeastOf(const Holds& holds) {
  // The order of patterns is that of magnitudes.
  const auto at = [](int64_t rank) {
    const auto size = static_cast<uint32_t>(rank < 0 ? -rank - 1 : rank);
    return std::bit_cast<float>(rank < 0 ? size | 0x80000000u : size);
  };
  int64_t high = cpu::kInfinityBits;
  int64_t low = -high - 2;  // below all
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (holds(at(middle)) ? high : low) = middle;
  }
  return at(high);
}

}  // namespace

cpu::BinEdges EdgesOf(const cpu::Moments& sent, size_t count) {
  const double mean = sent.sum / static_cast<double>(count);
  const double variance =
      sent.squares / static_cast<double>(count) - mean * mean;
  const double width = variance > 0.0 ? 1.5 * std::sqrt(variance) : 0.0;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (!(width > 0.0)) return {-kInfinity, -kInfinity, kInfinity};
  // A quotient rounds to 1 or above exactly where it is 1 or above, so no
  // division is needed.
  const auto from = [&](double edge) {
    return LeastOf([&](float value) { return value - mean >= edge; });
  };
  return {from(-width), from(0.0), from(width)};
}

Book BookOf(const GroupSums& group) {
  Book book{};
  double sum = 0.0;
  uint64_t count = 0;
  for (size_t code = book.size(); code-- > 0;) {
    const double from =
        code > 0 ? group.from.sums[code - 1] : group.moments.sum;
    const uint64_t reach = code > 0 ? group.from.counts[code - 1] : group.count;
    if (reach > count) {
      book[code] =
          static_cast<float>((from - sum) / static_cast<double>(reach - count));
    }
    sum = from;
    count = reach;
  }
  return book;
}

}  // namespace skerry::compression
