// transport/grpc/fetch_in_progress.h
//
// A fetch that has not ended yet, however its peer is reached.
#ifndef SKERRY_TRANSPORT_GRPC_FETCH_IN_PROGRESS_H_
#define SKERRY_TRANSPORT_GRPC_FETCH_IN_PROGRESS_H_

#include <cstdint>

namespace skerry::transport {

class FetchInProgress {
 public:
  virtual ~FetchInProgress() = default;
  // Ends it with Unavailable, unless it was over already. On the loop or after
  // it has stopped.
  virtual void Cancel() = 0;
  // Rises while pieces come. On the loop.
  virtual uint64_t pieces_received() const = 0;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_FETCH_IN_PROGRESS_H_
