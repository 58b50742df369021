// coordinator/core/rules/seat_totals.h
//
// Counts what all processes that ever served a job have sent and computed. A
// worker says its totals since its process started. When a process is gone, its
// totals go into the journal, so that no restart of the coordinator forgets
// them.
#ifndef SKERRY_COORDINATOR_CORE_RULES_SEAT_TOTALS_H_
#define SKERRY_COORDINATOR_CORE_RULES_SEAT_TOTALS_H_

#include <string>
#include <string_view>

#include "coordinator/core/state/job_state.h"
#include "protocol/seat_counters.h"

namespace skerry::coordinator {

// Takes in the totals that a worker says now. Totals that have fallen are those
// of another process.
void CountSeat(JobState& job, const Decider& decider, const std::string& worker,
               const SeatCounters& now);

// Journals the worker's totals, because its process is gone or may be.
void CountLost(JobState& job, const Decider& decider, std::string_view worker);

// Journals the totals of all workers when the job has ended, because nobody
// says anything of it any more.
void CountAll(JobState& job, const Decider& decider);

// Returns the totals of all processes together.
SeatCounters TotalsOf(const JobState& job);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RULES_SEAT_TOTALS_H_
