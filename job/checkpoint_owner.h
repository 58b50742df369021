// job/checkpoint_owner.h
//
// Words for a folder that already has checkpoints of a job. A worker that looks
// at a folder does not know which job asks, so it reports these words as
// DataFacts::save_error. The coordinator takes them for no error of the job
// that they name. Both have to use the same words, so a release that changes
// them has to know the old ones as well.
#ifndef SKERRY_JOB_CHECKPOINT_OWNER_H_
#define SKERRY_JOB_CHECKPOINT_OWNER_H_

#include <string>
#include <string_view>

#include "base/ids.h"

namespace skerry::job {

// Says that `folder` has checkpoints of the job with that name and number.
std::string CheckpointOwnerText(std::string_view folder, std::string_view name,
                                JobId number);

}  // namespace skerry::job

#endif  // SKERRY_JOB_CHECKPOINT_OWNER_H_
