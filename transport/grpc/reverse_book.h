// transport/grpc/reverse_book.h
//
// Keeps the calls that workers which cannot be dialled have opened to this one,
// and gives them to whoever wants to send or fetch. Who comes first waits for
// the other.
#ifndef SKERRY_TRANSPORT_GRPC_REVERSE_BOOK_H_
#define SKERRY_TRANSPORT_GRPC_REVERSE_BOOK_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/event_loop.h"
#include "transport/bulk.h"
#include "transport/directory.h"
#include "transport/grpc/fetch_in_progress.h"
#include "transport/grpc/refusals.h"
#include "transport/grpc/reverse_served.h"
#include "transport/outbox.h"

namespace skerry::transport {

// Members are called on the loop. Destroyed there or after it has stopped, once
// the streams and fetches that it made are gone.
class ReverseBook {
 public:
  // Both outlive it. The directory says whose calls are taken.
  ReverseBook(runtime::EventLoop& loop, const Directory& directory)
      : loop_(loop), directory_(directory) {}
  ~ReverseBook();

  // A stream to the peer over the call that it opened under this number, or
  // opens within 30 s; after that the stream ends, and may be wanted again.
  std::unique_ptr<OutgoingStream> Open(const std::string& peer, int index,
                                       StreamEvents& events);
  // Waits for a call of the peer for as long as the caller likes.
  std::shared_ptr<FetchInProgress> Fetch(const std::string& peer,
                                         const PieceKey& key,
                                         BulkTransport::FetchDone done);
  // Ends all calls of the peer.
  void Forget(const std::string& peer);

  // A new call. Of two streams with one number the newer counts: the older may
  // be dead without a sign. Errors: PermissionDenied, the peer is to be dialled
  // or unknown; ResourceExhausted, too many calls wait.
  absl::Status Take(const std::shared_ptr<ReverseOutput>& call);
  absl::Status Take(const std::shared_ptr<ReverseFetch>& call);
  // The call is over.
  void Lose(const ReverseOutput& call);
  void Lose(const ReverseFetch& call);

 private:
  class Stream;
  class Wanted;
  using Place = std::pair<std::string, int>;  // peer, number

  absl::Status CheckAwaited(const ReversePeer& peer);

  runtime::EventLoop& loop_;
  const Directory& directory_;
  Refusals refusals_;
  // Its end tells tasks left on the loop that the book is gone.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  absl::btree_map<Place, std::shared_ptr<ReverseOutput>> outputs_;
  absl::btree_map<Place, Stream*> streams_;  // that the outbox has
  // By peer: calls that wait for a fetch, and fetches that wait for a call.
  absl::btree_map<std::string, std::deque<std::shared_ptr<ReverseFetch>>> idle_;
  absl::btree_map<std::string, std::deque<std::weak_ptr<Wanted>>> wanted_;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_REVERSE_BOOK_H_
