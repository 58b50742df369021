// transport/grpc/grpc_bulk.h
//
// Bulk transport between processes, over gRPC streams of raw bytes.
#ifndef SKERRY_TRANSPORT_GRPC_GRPC_BULK_H_
#define SKERRY_TRANSPORT_GRPC_GRPC_BULK_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/event_loop.h"
#include "transport/bulk.h"
#include "transport/directory.h"
#include "transport/grpc/credentials.h"
#include "transport/grpc/relay_options.h"
#include "transport/outbox.h"
#include "transport/receive_gate.h"

namespace grpc {
class ServerBuilder;
}  // namespace grpc

namespace skerry::transport {

struct GrpcBulkOptions {
  // One that `credentials` reach; port 0 lets the kernel choose.
  std::string listen_address;
  // What peers count our frames under: 1 to 256 printable characters.
  std::string name;
  std::shared_ptr<Credentials> credentials = Credentials::Plaintext();
  OutboxOptions outbox = {};
  ReceiveGateOptions gate = {};
  // TCP connections for kBulk to one peer; overrides the outbox's option.
  // kLatency has one of its own. Several fill a long fat link at once, where
  // one needs some round trips to find its rate; with one, order is kept.
  int channels_per_peer = 4;
  // Read from one stream and not yet handled by the loop.
  uint64_t unhandled_bytes_max = uint64_t{4} << 20;
  uint64_t fetch_object_bytes_max = uint64_t{4} << 30;
  // A fetch that brings no piece for this long is given up.
  absl::Duration fetch_stall_max = absl::Seconds(10);
  // Bounds for what this worker passes on between others.
  RelayOptions relay = {};
  // gRPC's own buffers of the server.
  uint64_t server_memory_bytes_max = uint64_t{1} << 30;
  // Moves only the jitter.
  uint64_t seed = 1;
};

class GrpcBulk final : public BulkTransport {
 public:
  // Listens. `also_serve`, if given, may add services that share the port; they
  // outlive this object. `loop`, `directory` and `receiver` outlive it too. The
  // directory says where peers are reached, and its handlers are set:
  // connections to a peer that moves are made anew, peers that await streams of
  // this worker get them, and this worker passes on what the pairs that it
  // relays send each other. Codes: InvalidArgument (address, name),
  // Unavailable (cannot listen there).
  static absl::StatusOr<std::unique_ptr<GrpcBulk>> Start(
      const GrpcBulkOptions& options, runtime::EventLoop& loop,
      Directory& directory, BulkReceiver& receiver,
      absl::AnyInvocable<void(grpc::ServerBuilder&) &&> also_serve = nullptr);
  // Ends all calls and waits until gRPC has let go of them.
  ~GrpcBulk() override;

  // The address on which it listens, with the chosen port.
  const std::string& address() const;

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
  class Impl;
  explicit GrpcBulk(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_GRPC_BULK_H_
