// coordinator/core/views/model_place.h
//
// Tells where the model of a job that has ended is, and for how long.
#ifndef SKERRY_COORDINATOR_CORE_VIEWS_MODEL_PLACE_H_
#define SKERRY_COORDINATOR_CORE_VIEWS_MODEL_PLACE_H_

#include "coordinator/core/state/job_state.h"
#include "coordinator/core/state/worker_table.h"
#include "coordinator/core/views/views.h"

namespace skerry::coordinator {

// Requires: the job has ended.
ModelPlace PlaceOfModel(const JobState& job, const WorkerTable& workers);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_VIEWS_MODEL_PLACE_H_
