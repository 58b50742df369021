// coordinator/core/rules/data_holders.h
//
// Tells a worker that lacks a job's data set which workers of the job give it.
#ifndef SKERRY_COORDINATOR_CORE_RULES_DATA_HOLDERS_H_
#define SKERRY_COORDINATOR_CORE_RULES_DATA_HOLDERS_H_

#include <string>
#include <vector>

#include "coordinator/core/state/job_state.h"
#include "coordinator/core/state/worker_table.h"

namespace skerry::coordinator {

// Returns the workers that say they have the job's data set, and that `reader`
// can be connected with, in the order in which it asks them: first those that
// answer, and of these first those of its own island. Among equals a hash of
// both names decides, so that readers begin at different workers. Empty when
// the reader has the set, or does not fetch data.
std::vector<std::string> DataHoldersFor(const JobState& job,
                                        const WorkerTable& workers,
                                        const Worker& reader);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RULES_DATA_HOLDERS_H_
