// transport/grpc/reverse_dialer.h
//
// Keeps calls open to every worker that awaits streams of this one, or to the
// relay between the two, and opens them again when they break.
#ifndef SKERRY_TRANSPORT_GRPC_REVERSE_DIALER_H_
#define SKERRY_TRANSPORT_GRPC_REVERSE_DIALER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/container/btree_map.h"
#include "absl/time/time.h"
#include "base/random.h"
#include "runtime/event_loop.h"
#include "transport/directory.h"
#include "transport/grpc/bulk_call_state.h"
#include "transport/grpc/open_calls.h"

namespace grpc {
class Channel;
}  // namespace grpc

namespace skerry::transport {

struct ReverseDialerOptions {
  // This worker's.
  std::string name;
  // Streams of frames to each peer, the urgent one included.
  int streams_per_peer = 2;
  // How many fetches each peer can make at a time.
  int fetches_per_peer = 16;
  int relayed_fetches_per_peer = 4;
  // The wait before a lost call is opened again. It doubles from min to max
  // while calls end early, and each real wait is drawn from the upper half.
  absl::Duration reopen_min;
  absl::Duration reopen_max;
  // Moves only the jitter.
  uint64_t seed = 1;
};

// Members are called on the loop. Destroyed there or after it has stopped.
class ReverseDialer {
 public:
  // A connection to a worker for the stream of that number; null while nobody
  // has said where the worker is.
  using Connect = std::function<std::shared_ptr<grpc::Channel>(
      const std::string& peer, int stream_index)>;

  // `directory` says which peers are behind a relay. It and `open_calls`
  // outlive the dialer.
  ReverseDialer(const ReverseDialerOptions& options,
                std::shared_ptr<BulkCallState> state, OpenCalls& open_calls,
                const Directory& directory, Connect connect);
  ~ReverseDialer();

  // Those that await streams, all of them.
  void Await(const Directory::Workers& peers);
  // The peer is reached elsewhere from now on.
  void OnMoved(const std::string& peer);

 private:
  struct Peer;
  class Line;

  void OpenAll(const std::string& name);

  const ReverseDialerOptions options_;
  const std::shared_ptr<BulkCallState> state_;
  OpenCalls& open_calls_;
  const Directory& directory_;
  const Connect connect_;
  Random random_;
  absl::btree_map<std::string, std::unique_ptr<Peer>> peers_;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_REVERSE_DIALER_H_
