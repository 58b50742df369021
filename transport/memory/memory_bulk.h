// transport/memory/memory_bulk.h
//
// Bulk transport inside one process, over a MemoryNetwork.
#ifndef SKERRY_TRANSPORT_MEMORY_MEMORY_BULK_H_
#define SKERRY_TRANSPORT_MEMORY_MEMORY_BULK_H_

#include <cstdint>
#include <memory>
#include <string>

#include "transport/bulk.h"
#include "transport/inbox.h"
#include "transport/memory/memory_network.h"
#include "transport/outbox.h"

namespace skerry::transport {

struct MemoryBulkOptions {
  OutboxOptions outbox = {};
  ReceiveGateOptions gate = {};
};

class MemoryBulk final : public BulkTransport {
 public:
  // Can be reached under `name` until destroyed.
  // `network` and `receiver` outlive it.
  MemoryBulk(const MemoryBulkOptions& options, MemoryNetwork& network,
             const std::string& name, BulkReceiver& receiver, uint64_t seed);
  ~MemoryBulk() override;

  void Send(const std::string& peer, Frame frame, TrafficClass traffic_class,
            SendDone done) override;
  void ForgetBefore(uint64_t job, uint32_t fragment, uint64_t attempt) override;
  void Reoffer(uint64_t job, uint32_t fragment) override;
  void Fetch(const std::string& peer, const PieceKey& key,
             FetchDone done) override;
  BulkCounters counters() const override;
  absl::btree_map<std::string, LinkEstimate> links() const override;
  std::vector<std::string> unreached() const override;

 private:
  class Opener final : public StreamOpener {
   public:
    Opener(MemoryNetwork& network, std::string from)
        : network_(network), from_(std::move(from)) {}
    std::unique_ptr<OutgoingStream> Open(const std::string& peer,
                                         int stream_index,
                                         StreamEvents& events) override {
      return network_.OpenStream(from_, peer, events);
    }

   private:
    MemoryNetwork& network_;
    const std::string from_;
  };

  MemoryNetwork& network_;
  const std::string name_;
  // Its end tells fetches under way that nobody waits for them.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  Opener opener_;
  Inbox inbox_;
  Outbox outbox_;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_MEMORY_MEMORY_BULK_H_
