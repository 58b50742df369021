// worker/core/values.h
//
// The flat fp32 values of a span. Every state of a span is such a snapshot, and
// a new state is a new buffer.
#ifndef SKERRY_WORKER_CORE_VALUES_H_
#define SKERRY_WORKER_CORE_VALUES_H_

#include <memory>
#include <vector>

namespace skerry::worker {

using Values = std::shared_ptr<const std::vector<float>>;

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_VALUES_H_
