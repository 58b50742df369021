// checkpoint/same_model.h
//
// Compares the weights of two models.
#ifndef SKERRY_CHECKPOINT_SAME_MODEL_H_
#define SKERRY_CHECKPOINT_SAME_MODEL_H_

#include <string_view>

#include "absl/status/status.h"
#include "checkpoint/tensor_table.h"

namespace skerry::checkpoint {

// Checks that two texts of a config.json are of one model. Keys that only
// initial weights depend on may differ. Errors: InvalidArgument, naming every
// field that differs with both values ("n_embd 64 and 128"), or the text that
// is refused.
absl::Status CheckSameModel(std::string_view job_config,
                            std::string_view found_config);

// Checks that two models have the same tensors, by names and shapes, in the
// same order. Errors: InvalidArgument, naming the first tensor that differs.
absl::Status CheckSameTensors(const TensorTable& job, const TensorTable& found);

}  // namespace skerry::checkpoint

#endif  // SKERRY_CHECKPOINT_SAME_MODEL_H_
