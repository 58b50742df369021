// transport/grpc/relay_book.h
//
// Keeps the calls that workers have opened here to meet others which they
// cannot dial, and splices those that belong together. It knows nothing of
// frames, attempts and rounds.
#ifndef SKERRY_TRANSPORT_GRPC_RELAY_BOOK_H_
#define SKERRY_TRANSPORT_GRPC_RELAY_BOOK_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "runtime/event_loop.h"
#include "transport/directory.h"
#include "transport/grpc/refusals.h"
#include "transport/grpc/refused_calls.h"
#include "transport/grpc/relay_options.h"
#include "transport/grpc/relayed_call.h"

namespace skerry::transport {

// Members are called on the loop. Destroyed there or after it has stopped.
class RelayBook {
 public:
  // All outlive it. The directory says for which pairs calls are taken.
  RelayBook(const RelayOptions& options, runtime::EventLoop& loop,
            const Directory& directory, RefusedCalls& refused);
  ~RelayBook();

  // A new call. Of two streams of one route from one side the newer counts: the
  // older may be dead without a sign. Errors: ResourceExhausted, too many calls
  // wait. A call for a pair that this worker does not relay ends later with
  // PermissionDenied.
  absl::Status Take(const std::shared_ptr<RelayedCall>& call);
  // The call is over.
  void Lose(const RelayedCall& call);
  // The directory has other pairs. Ends the calls of those that are gone.
  void OnPairsChanged();

 private:
  using Calls = std::deque<std::shared_ptr<RelayedCall>>;
  struct Meeting {
    // Those that wait for the other side, and those that have found it.
    Calls senders;
    Calls receivers;
    Calls spliced;
    // The orders have named the pair.
    bool was_relayed = false;
    bool is_empty() const {
      return senders.empty() && receivers.empty() && spliced.empty();
    }
  };

  // Ends the streams of this route that the same side has opened before.
  void ReplaceOlder(const RelayedCall& newer);
  void Match(const RelayRoute& route, Meeting& meeting);
  // Has the call end unless it is spliced when its time is over.
  void Watch(const std::shared_ptr<RelayedCall>& call);
  // Says so in the log, and counts it.
  absl::Status Refuse(const RelayedCall& call);

  const RelayOptions options_;
  runtime::EventLoop& loop_;
  const Directory& directory_;
  RefusedCalls& refused_;
  Refusals refusals_;
  // Its end tells tasks left on the loop that the book is gone.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  absl::btree_map<RelayRoute, Meeting> meetings_;
  absl::btree_map<std::string, size_t> calls_of_;  // by worker
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_RELAY_BOOK_H_
