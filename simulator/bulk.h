// simulator/bulk.h
//
// The bulk transport of one worker's process over the simulated network. It has
// the real outbox and inbox, on streams that are slow, break, and damage the
// bytes that they carry.
#ifndef SKERRY_SIMULATOR_BULK_H_
#define SKERRY_SIMULATOR_BULK_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "simulator/network.h"
#include "simulator/process.h"
#include "transport/bulk.h"
#include "transport/directory.h"
#include "transport/inbox.h"
#include "transport/outbox.h"

namespace skerry::sim {

class World;

class SimBulk final : public transport::BulkTransport {
 public:
  // All outlive the transport, which ends with its process.
  SimBulk(World& world, Process& process, HostId host,
          transport::Directory& directory, transport::BulkReceiver& receiver);
  ~SimBulk() override;

  void Send(const std::string& peer, transport::Frame frame,
            transport::TrafficClass traffic_class, SendDone done) override;
  void ForgetBefore(uint64_t job, uint32_t fragment, uint64_t attempt) override;
  void Reoffer(uint64_t job, uint32_t fragment) override;
  void Fetch(const std::string& peer, const protocol::PieceKey& key,
             FetchDone done) override;
  transport::BulkCounters counters() const override {
    return {outbox_.counters(), inbox_.counters()};
  }
  absl::btree_map<std::string, transport::LinkEstimate> links() const override {
    return outbox_.links();
  }
  std::vector<std::string> unreached() const override {
    return outbox_.unreached();
  }

 private:
  class Pipe;
  class Handle;
  class Opener final : public transport::StreamOpener {
   public:
    explicit Opener(SimBulk& bulk) : bulk_(bulk) {}
    std::unique_ptr<transport::OutgoingStream> Open(
        const std::string& peer, int stream_index,
        transport::StreamEvents& events) override;

   private:
    SimBulk& bulk_;
  };

  World& world_;
  Process& process_;
  const HostId host_;
  transport::Directory& directory_;
  Opener opener_;
  transport::Inbox inbox_;
  transport::Outbox outbox_;
};

}  // namespace skerry::sim

#endif  // SKERRY_SIMULATOR_BULK_H_
