// coordinator/core/rules/beginning.h
//
// Decides with which values a job of a program begins (PROTOCOL 5.11). Trainers
// of a program may begin with different values, so those of one of them are the
// job's, and all others fetch that state.
#ifndef SKERRY_COORDINATOR_CORE_RULES_BEGINNING_H_
#define SKERRY_COORDINATOR_CORE_RULES_BEGINNING_H_

#include "coordinator/core/state/job_state.h"

namespace skerry::coordinator {

// Whether the trainers of the job may begin with different values.
bool MayBeginDifferently(const job::JobSpec& spec);

// Takes the values of another trainer for the job's when nobody that is there
// can bring those with which it began, and nothing has been committed to them.
void DecideBeginning(JobState& job, const Decider& decider);

// Removes from what a worker says the state that it made of other values than
// those with which the job begins. A history that an older journal has lost
// may have begun with them.
void RemoveOfOtherValues(const JobState& job, JobFacts& facts);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RULES_BEGINNING_H_
