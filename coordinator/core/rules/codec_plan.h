// coordinator/core/rules/codec_plan.h
//
// Chooses the codecs of each member of an attempt, if the job leaves that to
// its links: one for its contribution and one for the results of the spans that
// it owns.
#ifndef SKERRY_COORDINATOR_CORE_RULES_CODEC_PLAN_H_
#define SKERRY_COORDINATOR_CORE_RULES_CODEC_PLAN_H_

#include <cstddef>

#include "coordinator/core/log/records.h"
#include "coordinator/core/state/job_state.h"
#include "job/job_spec.h"
#include "planner/codec_choice.h"

namespace skerry::coordinator {

// Tells what the job does with the errors of codecs and, with codec "adaptive",
// how many rounds of work its outer step can take at once. On the quadratic of
// docs/outer_loop.md at c = 1, a step of rate a over r rounds, with d rounds in
// flight, ends farther from the optimum than it began if a (r + d) > 2. For
// other policies and codecs the operator decides.
//
// Requires: the spec is reviewed.
planner::ErrorHandling ErrorHandlingOf(const job::JobSpec& spec);

// Sets the members' codecs. Of a job with a codec policy it also adds why to
// the reason. The record carries both, so every worker and a restart see what
// was chosen; what was learned of links is not durable.
//
// Only where all workers of all members can do so (JobFacts.result_codecs) does
// a member have a codec of its own for results; while one cannot, results
// travel as contributions do.
//
// A member whose link nobody has measured counts as slow as the slowest that is
// measured. Requires: members, owners and hops of `opened` are set.
void PlanCodecs(JobState& job, size_t fragment, Opened& opened);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RULES_CODEC_PLAN_H_
