// base/element_range.h
//
// A run of elements of a model's flat state.
#ifndef SKERRY_BASE_ELEMENT_RANGE_H_
#define SKERRY_BASE_ELEMENT_RANGE_H_

#include <cstdint>

namespace skerry {

// Elements [begin, end).
struct ElementRange {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t size() const { return end - begin; }
  friend bool operator==(const ElementRange&, const ElementRange&) = default;
};

}  // namespace skerry

#endif  // SKERRY_BASE_ELEMENT_RANGE_H_
