// base/collective.h
//
// A collective sums and copies values among members that compute together. Its
// callers do not know how the values travel.
#ifndef SKERRY_BASE_COLLECTIVE_H_
#define SKERRY_BASE_COLLECTIVE_H_

#include <cstddef>
#include <span>

#include "absl/status/status.h"

namespace skerry {

// One member's handle. All members make the same calls, in the same order,
// with the same lengths and roots; each call returns when this member's part
// is done. An error ends the collective for good, and leaves `values`
// unspecified.
class Collective {
 public:
  virtual ~Collective() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // Every member gets the fp32 sum, added in the order of the ranks: the same
  // bits everywhere.
  virtual absl::Status AllReduceSum(std::span<float> values) = 0;
  // Every member gets what `root` has.
  virtual absl::Status Broadcast(std::span<float> values, int root) = 0;
  // Exchanges pieces. `to` and `from` have size() pieces of one length: piece i
  // of `to` goes to rank i, and piece j of `from` comes from rank j. They may
  // not overlap.
  virtual absl::Status AllToAll(std::span<const std::byte> to,
                                std::span<std::byte> from) = 0;
  // Every member gets the pieces of all, in the order of the ranks. They may
  // not overlap.
  virtual absl::Status AllGather(std::span<const std::byte> piece,
                                 std::span<std::byte> all) = 0;
};

}  // namespace skerry

#endif  // SKERRY_BASE_COLLECTIVE_H_
