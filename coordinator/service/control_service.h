// coordinator/service/control_service.h
//
// Serves the workers' control streams.
#ifndef SKERRY_COORDINATOR_SERVICE_CONTROL_SERVICE_H_
#define SKERRY_COORDINATOR_SERVICE_CONTROL_SERVICE_H_

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "coordinator/service/cluster_shell.h"
#include "coordinator/service/control_stream.h"
#include "proto/skerry/v1/control.grpc.pb.h"
#include "runtime/event_loop.h"
#include "runtime/machine.h"
#include "transport/grpc/revocations.h"

namespace skerry::coordinator {

struct ControlOptions {
  // The mark of the coordinator's own identity, told to each worker that opens
  // a stream. Any thread may call it. Unset: there is no cluster.
  std::function<std::string()> mark = {};
  size_t streams_max = 12'000;
  // What a gRPC client takes unless it is told otherwise.
  size_t orders_bytes_max = 4 << 20;
  // This machine, for comparing its clock with workers'.
  runtime::LookAtMachine look;
  // Workers whose certificates are not believed any more.
  std::shared_ptr<const transport::Revocations> revocations =
      std::make_shared<transport::Revocations>();
};

// A worker has one live stream. A newer stream replaces the older one, and the
// core is told when the live one ends. A stream speaks for one boot of one
// worker.
class ControlService final : public v1::Control::CallbackService,
                             public ControlStreamOwner {
 public:
  // `loop` and `shell` outlive the service, and the service the server.
  ControlService(const ControlOptions& options, runtime::EventLoop& loop,
                 ClusterShell& shell);

  // On a gRPC thread.
  grpc::ServerBidiReactor<v1::Status, v1::Orders>* Session(
      grpc::CallbackServerContext* context) override;

  // On the loop: ends every stream with `why`, and later ones at once.
  void Close(const absl::Status& why);

  void OnStatus(uint64_t stream, StatusFacts status) override;
  void OnBadStatus(uint64_t stream, const absl::Status& why) override;
  void OnClosed(uint64_t stream) override;
  void OnDone(uint64_t stream) override;

 private:
  void Admit(std::unique_ptr<ControlStream> stream, uint64_t id);
  ControlStream* Find(uint64_t id);
  // The core's answer to a Status, once it is durable.
  void Answer(uint64_t id, const ControlStream::Identity& identity,
              const absl::Status& taken);
  void MakeLive(uint64_t id, ControlStream& stream,
                const ControlStream::Identity& identity);
  // When the stream is its worker's live one, it no longer is, and the core is
  // told.
  void Unlink(const ControlStream& stream, uint64_t id);

  const ControlOptions options_;
  runtime::EventLoop& loop_;
  ClusterShell& shell_;
  std::atomic<uint64_t> streams_made_ = 0;
  // All below: on the loop.
  absl::btree_map<uint64_t, std::unique_ptr<ControlStream>> streams_;
  absl::btree_map<std::string, uint64_t> live_;
  std::optional<absl::Status> closed_;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_SERVICE_CONTROL_SERVICE_H_
