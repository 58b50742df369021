// coordinator/core/rules/exchange_shape.h
//
// Describes an attempt as planner/exchange_time.h needs it: what the members
// own, and what their workers have measured of the links between them.
#ifndef SKERRY_COORDINATOR_CORE_RULES_EXCHANGE_SHAPE_H_
#define SKERRY_COORDINATOR_CORE_RULES_EXCHANGE_SHAPE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "coordinator/core/log/records.h"
#include "coordinator/core/state/job_state.h"
#include "planner/exchange_time.h"

namespace skerry::coordinator {

// None while no link between members is measured.
//
// Requires: members, owners and hops of `opened` are set.
std::optional<planner::ExchangeShape> MeasuredShape(const JobState& job,
                                                    const Opened& opened);

// The longest round trip that the members' workers have measured between each
// other; none while none is measured.
std::optional<absl::Duration> LongestRoundTrip(
    const JobState& job, const std::vector<Member>& members);

// Elements of each span of the attempt's fragment.
std::vector<uint64_t> SpansOf(const JobState& job, const Opened& opened);

// By member, the bytes that an element of the fragment has in its codec.
//
// Requires: each member names its codec.
std::vector<double> BytesPerElement(const JobState& job, const Opened& opened);

// How long the attempt takes by what is measured of its links; 0 while nothing
// is. Requires: as both above.
absl::Duration PredictedTime(const JobState& job, const Opened& opened);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RULES_EXCHANGE_SHAPE_H_
