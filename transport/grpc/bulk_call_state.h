// transport/grpc/bulk_call_state.h
//
// What the calls of a bulk transport need of it.
#ifndef SKERRY_TRANSPORT_GRPC_BULK_CALL_STATE_H_
#define SKERRY_TRANSPORT_GRPC_BULK_CALL_STATE_H_

#include <cstdint>
#include <memory>

#include "runtime/event_loop.h"
#include "transport/grpc/revocations.h"
#include "transport/inbox.h"

namespace skerry::transport {

class RelayBook;
class ReverseBook;

// It is kept until the last call and its tasks are gone.
struct BulkCallState {
  runtime::EventLoop& loop;
  // Bytes read from one stream and not yet handled by the loop, above which
  // nothing more is read from it.
  uint64_t unhandled_bytes_max;
  uint64_t fetch_object_bytes_max;
  // All: touched on the loop; null once they are gone.
  Inbox* inbox;
  ReverseBook* reverse;
  RelayBook* relay;
  std::shared_ptr<const Revocations> revocations;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_BULK_CALL_STATE_H_
