// coordinator/core/log/worker_intent.h
//
// Defines what an operator wants a worker to do.
#ifndef SKERRY_COORDINATOR_CORE_LOG_WORKER_INTENT_H_
#define SKERRY_COORDINATOR_CORE_LOG_WORKER_INTENT_H_

namespace skerry::coordinator {

// To serve, to get nothing new, or to leave every job as well.
enum class WorkerIntent { kServe, kCordon, kDrain };

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_LOG_WORKER_INTENT_H_
