// trainer/core/engine_inner.h
//
// The engine's inner state: the optimizer's moments by tensor names, and how
// far optimizer and schedule have come.
#ifndef SKERRY_TRAINER_CORE_ENGINE_INNER_H_
#define SKERRY_TRAINER_CORE_ENGINE_INNER_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "model/spec/parameter_layout.h"
#include "optimizer/inner/inner_optimizer.h"
#include "trainer/core/inner_file.h"

namespace skerry::trainer {

// Writes the state of `optimizer`, whose tensors are those of `layout`, and
// `position`, one past the largest that the schedule has seen. Returns the
// bytes of the file. Errors: those of InnerHeader and of the file.
absl::StatusOr<uint64_t> SaveEngineInner(const model::ParameterLayout& layout,
                                         const InnerLabel& label,
                                         uint64_t position,
                                         optimizer::InnerOptimizer& optimizer,
                                         InnerFile& file);

// Reads what was written into `optimizer` and `position`. Errors:
// InvalidArgument, and nothing was changed, when the file is broken, or is of
// another layout or another optimizer.
absl::StatusOr<InnerProgress> LoadEngineInner(
    const model::ParameterLayout& layout, uint64_t layout_hash, InnerFile& file,
    optimizer::InnerOptimizer& optimizer, uint64_t& position);

}  // namespace skerry::trainer

#endif  // SKERRY_TRAINER_CORE_ENGINE_INNER_H_
