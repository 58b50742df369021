// transport/memory/memory_network.h
//
// Links between the endpoints of one process, all on one loop. They can be slow
// or cut, and can damage and repeat frames. The same seed and the same calls
// give the same history.
#ifndef SKERRY_TRANSPORT_MEMORY_MEMORY_NETWORK_H_
#define SKERRY_TRANSPORT_MEMORY_MEMORY_NETWORK_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "base/random.h"
#include "runtime/event_loop.h"
#include "transport/inbox.h"
#include "transport/outbox.h"

namespace skerry::transport {

class MemoryPipe;

// What happens to messages in one direction between two endpoints.
struct MemoryLink {
  absl::Duration delay = absl::ZeroDuration();
  // If true, nothing arrives and nobody is told. Streams that lost something
  // break when the link is next set to one that is not cut.
  bool is_cut = false;
  // How likely a frame is to be damaged, and to be sent twice. Answers and
  // fetches are not touched.
  double corrupt_probability = 0;
  double duplicate_probability = 0;
};

class MemoryNetwork {
 public:
  // `loop` outlives the network, the network its endpoints.
  MemoryNetwork(runtime::EventLoop& loop, uint64_t seed)
      : loop_(loop), random_(seed) {}

  void SetLink(const std::string& from, const std::string& to,
               const MemoryLink& link);
  // Breaks every stream that `from` has opened to `to`; what is under way on
  // them is lost.
  void BreakStreams(const std::string& from, const std::string& to);

  runtime::EventLoop& loop() { return loop_; }

  // For endpoints. The name is free again after Remove().
  void Add(const std::string& name, Inbox& inbox);
  void Remove(const std::string& name);
  std::unique_ptr<OutgoingStream> OpenStream(const std::string& from,
                                             const std::string& to,
                                             StreamEvents& events);
  // Asks the endpoint at `to` and brings the answer back, or Unavailable. A cut
  // link brings nothing back.
  void Fetch(const std::string& from, const std::string& to,
             const PieceKey& key, BulkTransport::FetchDone done);

 private:
  friend class MemoryPipe;
  class PipeHandle;
  using Pair = std::pair<std::string, std::string>;

  MemoryLink LinkOf(const std::string& from, const std::string& to) const;
  Inbox* Find(const std::string& name) const;
  bool Toss(double probability) { return random_.Uniform() < probability; }
  // Runs `arrival` after the delay of the link; false when it is cut.
  bool Carry(const std::string& from, const std::string& to,
             runtime::Task arrival);

  runtime::EventLoop& loop_;
  Random random_;
  absl::btree_map<Pair, MemoryLink> links_;
  // Messages of one pair never overtake each other.
  absl::btree_map<Pair, Instant> last_arrival_;
  absl::btree_map<std::string, Inbox*> inboxes_;
  absl::btree_map<Pair, std::vector<std::weak_ptr<MemoryPipe>>> pipes_;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_MEMORY_MEMORY_NETWORK_H_
