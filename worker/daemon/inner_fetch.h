// worker/daemon/inner_fetch.h
//
// Brings the inner state of a checkpoint to this worker.
#ifndef SKERRY_WORKER_DAEMON_INNER_FETCH_H_
#define SKERRY_WORKER_DAEMON_INNER_FETCH_H_

#include <string>

#include "absl/status/status.h"
#include "runtime/blob_stores.h"
#include "runtime/files.h"
#include "worker/shell/inner_source.h"

namespace skerry::worker {

// Copies the inner state to the file `path`, durably. Blocks. Errors: NotFound,
// there is none; those of checkpoint::CopyInnerState.
absl::Status FetchInner(const InnerSource& from, const std::string& path,
                        runtime::BlobStores& places, runtime::Files& files);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_INNER_FETCH_H_
