// simulator/stand_in.h
//
// Makes a small model that stands for a large one. It has as many spans, so
// owners, joiners and frames are as many, but so few elements that arithmetic
// costs little. To find how many bytes a frame counts, one span of the real
// size and one of the small size are encoded.
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
  // Mean number of elements in a span of the model that it stands for.
  double span_elements = 0;
};

// Returns the stand-in for a model of `elements` in `fragments` of `spans`
// each. A model whose spans have at most two alignments stands for itself
// (planner/span_alignment.h).
//
// Errors: InvalidArgument for a codec that no job can name, or more spans than
// the model has room for.
absl::StatusOr<StandIn> StandInFor(uint64_t elements, uint32_t fragments,
                                   uint32_t spans, const std::string& codec);

// Returns the encoded size in bytes of a span of `elements`, whose values are
// distributed like those that a round produces.
double EncodedBytes(compression::CodecId codec, uint64_t elements);

}  // namespace skerry::sim

#endif  // SKERRY_SIMULATOR_STAND_IN_H_
