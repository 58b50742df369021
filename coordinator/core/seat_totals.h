// coordinator/core/seat_totals.h
//
// What all processes that ever served a job have sent and computed. Workers say
// their totals since they started; those of a process that is gone are in the
// journal, so that no restart of the coordinator forgets them.
#ifndef SKERRY_COORDINATOR_CORE_SEAT_TOTALS_H_
#define SKERRY_COORDINATOR_CORE_SEAT_TOTALS_H_

#include <string>
#include <string_view>

#include "coordinator/core/facts.h"
#include "coordinator/core/job_state.h"

namespace skerry::coordinator {

// Takes in what a worker says now; totals that have fallen are those of another
// process.
void CountSeat(JobState& job, const Decider& decider, const std::string& worker,
               const SeatCounters& now);

// The worker's process is gone, or may be.
void CountLost(JobState& job, const Decider& decider, std::string_view worker);

// The job has ended: nobody says anything of it any more.
void CountAll(JobState& job, const Decider& decider);

// Of all processes together.
SeatCounters TotalsOf(const JobState& job);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_SEAT_TOTALS_H_
