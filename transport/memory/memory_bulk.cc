#include "transport/memory/memory_bulk.h"

#include <utility>

#include "transport/fetch_wire.h"

namespace skerry::transport {

MemoryBulk::MemoryBulk(const MemoryBulkOptions& options, MemoryNetwork& network,
                       const std::string& name, BulkReceiver& receiver,
                       uint64_t seed)
    : network_(network),
      name_(name),
      opener_(network, name),
      inbox_(options.gate, network.loop(), receiver),
      outbox_(options.outbox, network.loop(), opener_, seed) {
  network_.Add(name_, inbox_);
}

MemoryBulk::~MemoryBulk() {
  network_.Remove(name_);
  *alive_ = false;
}

void MemoryBulk::Send(const std::string& peer, Frame frame,
                      TrafficClass traffic_class, SendDone done) {
  outbox_.Send(peer, std::move(frame), traffic_class, std::move(done));
}

void MemoryBulk::ForgetBefore(uint64_t job, uint32_t fragment,
                              uint64_t attempt) {
  outbox_.ForgetBefore(job, fragment, attempt);
}

void MemoryBulk::Reoffer(uint64_t job, uint32_t fragment) {
  inbox_.Reoffer(job, fragment);
}

void MemoryBulk::Fetch(const std::string& peer, const PieceKey& key,
                       FetchDone done) {
  network_.Fetch(
      name_, peer, key,
      [this, alive = alive_, peer, key,
       done = std::move(done)](absl::StatusOr<SharedBytes> object) mutable {
        if (!*alive) return;
        if (object.ok() && !IsObjectOf(key, object->bytes())) {
          object = absl::DataLossError("the object does not match its hash");
        }
        PeerCounters& counters = outbox_.CountersOf(peer);
        ++(object.ok() ? counters.fetches_done : counters.fetches_failed);
        std::move(done)(std::move(object));
      });
}

BulkCounters MemoryBulk::counters() const {
  return {outbox_.counters(), inbox_.counters()};
}

absl::btree_map<std::string, LinkEstimate> MemoryBulk::links() const {
  return outbox_.links();
}

std::vector<std::string> MemoryBulk::unreached() const {
  return outbox_.unreached();
}

}  // namespace skerry::transport
