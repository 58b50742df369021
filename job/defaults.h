// job/defaults.h
//
// Fills in defaults that depend on other fields of the job: on its optimizer,
// schedule, outer method, codec and model. The other defaults stand in
// job/job_spec.h.
#ifndef SKERRY_JOB_DEFAULTS_H_
#define SKERRY_JOB_DEFAULTS_H_

#include <cstdint>

#include "job/job_spec.h"

namespace skerry::job {

// Fills every field that is empty and has a default. `context` is the model's
// context length, 0 when it is not known; data.sequence_tokens then stays
// empty. A field that is set, to zero too, is left as it is. Filling twice
// changes nothing.
void FillDefaults(uint32_t context, JobSpec& spec);

}  // namespace skerry::job

#endif  // SKERRY_JOB_DEFAULTS_H_
