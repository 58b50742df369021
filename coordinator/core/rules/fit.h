// coordinator/core/rules/fit.h
//
// Checks whether the workers that are there can do what a job asks for, with
// the memory and the data sets that they report. Workers come and go, so a job
// is refused only if none of those that are there could serve it. A job without
// workers waits.
#ifndef SKERRY_COORDINATOR_CORE_RULES_FIT_H_
#define SKERRY_COORDINATOR_CORE_RULES_FIT_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "base/ids.h"
#include "coordinator/core/state/worker_table.h"
#include "job/job_spec.h"
#include "job/review.h"

namespace skerry::coordinator {

// Says how much of `needed` bytes of memory the worker lacks; empty when it has
// them or does not tell its memory.
std::string WhyTooSmall(uint64_t needed, const Worker& worker);

// Says that the job's workers are in fewer islands than exchange.min_replicas;
// empty when they are not.
std::string WhyTooFewIslands(const job::JobSpec& spec, size_t islands);

// Adds to the warnings what some of the workers that the job may use cannot
// serve. `number` is the one that the job would get.
//
// Errors: InvalidArgument with everything that none of them can serve, one
// problem a line.
absl::Status ReviewFit(const WorkerTable& workers, JobId number,
                       job::ReviewedSpec& reviewed);

// Workers that the job may use, that look at data sets, and that have not said
// what is under data.path.
uint32_t DataPending(const job::JobSpec& spec, const WorkerTable& workers);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RULES_FIT_H_
