// transport/flow.h
//
// A flow is the frames of one attempt in one class. A receiver wants all of
// them or none.
#ifndef SKERRY_TRANSPORT_FLOW_H_
#define SKERRY_TRANSPORT_FLOW_H_

#include <compare>
#include <cstdint>

#include "compression/frame.h"

namespace skerry::transport {

struct Flow {
  uint64_t job = 0;
  uint32_t fragment = 0;
  uint64_t attempt = 0;
  friend auto operator<=>(const Flow&, const Flow&) = default;
};

inline Flow FlowOf(const compression::FrameHeader& header) {
  return {header.job, header.fragment, header.attempt};
}

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_FLOW_H_
