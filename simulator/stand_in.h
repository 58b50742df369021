// simulator/stand_in.h
//
// A small model in the place of a large one: with as many spans, so that
// owners, joiners and frames are as many, and with so few elements that their
// arithmetic costs little. What its frames are charged is measured: a span of
// the real size and one of the small are encoded once.
#ifndef SKERRY_SIMULATOR_STAND_IN_H_
#define SKERRY_SIMULATOR_STAND_IN_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "simulator/setting.h"

namespace skerry::sim {

struct StandIn {
  uint64_t elements = 0;
  Scale scale;
  // Of one span, in the model that it stands for.
  double span_elements = 0;
};

// For a model of `elements` in `fragments` of `spans` each. Models of at most
// two alignments a span stand for themselves.
//
// Errors: InvalidArgument for a codec that no job can name, or more spans than
// the model has room for.
absl::StatusOr<StandIn> StandInFor(uint64_t elements, uint32_t fragments,
                                   uint32_t spans, const std::string& codec);

// Bytes that a span of so many elements takes, of values as rounds produce
// them.
double EncodedBytes(compression::CodecId codec, uint64_t elements);

}  // namespace skerry::sim

#endif  // SKERRY_SIMULATOR_STAND_IN_H_
