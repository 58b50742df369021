// coordinator/service/coordinator_server.h
//
// Runs a coordinator that serves on a port. It puts loop, core, journal and
// gRPC together, and knows no flags or signals.
#ifndef SKERRY_COORDINATOR_SERVICE_COORDINATOR_SERVER_H_
#define SKERRY_COORDINATOR_SERVICE_COORDINATOR_SERVER_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/convert/page.h"
#include "coordinator/core/state/options.h"
#include "coordinator/service/control_service.h"
#include "coordinator/service/join_service.h"
#include "coordinator/service/journal.h"
#include "coordinator/service/operator_service.h"
#include "coordinator/service/piece_service.h"
#include "runtime/event_loop.h"
#include "runtime/metrics.h"
#include "transport/grpc/credentials.h"

namespace grpc {
class Server;
}

namespace skerry::coordinator {

struct ServerOptions {
  // host:port that `credentials` reach; port 0 takes a free one.
  std::string listen = "127.0.0.1:7443";
  std::shared_ptr<transport::Credentials> credentials =
      transport::Credentials::Plaintext();
  bool reflection = false;
  // Largest message that is taken in.
  int receive_bytes_max = 1 << 20;
  // For everything that gRPC buffers.
  size_t memory_bytes_max = size_t{512} << 20;
  // How long calls may take to end once the server stops.
  absl::Duration stop_max = absl::Seconds(5);
  ClusterOptions cluster;
  ControlOptions control;
  OperatorOptions operators;
  PieceOptions pieces;
};

// The order of its life is: construct, Start(), Stop(), stop the loop, destroy.
// Tasks on the loop point to this object, so the loop must be stopped before it
// is destroyed, even if Start() failed. No member but Doing() is called on the
// loop.
class CoordinatorServer {
 public:
  // `loop` runs on another thread; it and `journal` outlive the server, and
  // nobody else uses the journal.
  CoordinatorServer(const ServerOptions& options, runtime::EventLoop& loop,
                    Journal& journal);
  ~CoordinatorServer();
  CoordinatorServer(const CoordinatorServer&) = delete;
  CoordinatorServer& operator=(const CoordinatorServer&) = delete;

  // Recovers from the journal, then serves; blocks until the port is open.
  //
  // Errors: InvalidArgument, an address that needs a certificate; of
  // ClusterShell::Recover; Unavailable, the address cannot be listened on.
  absl::Status Start();

  // Says "not serving", ends streams with UNAVAILABLE, answers what is waiting,
  // and returns when the last batch is durable and every call has ended.
  void Stop();

  // Each may be called on any thread between construction and Stop(), and
  // blocks for a moment at most. Unavailable: why not.
  //
  // The loop answers.
  absl::Status Healthy();
  // The journal is recovered and the port is open.
  absl::Status Ready() const;
  // docs/metrics.md lists them. Unavailable before the journal is recovered.
  absl::StatusOr<std::vector<runtime::Metric>> Metrics();
  // What the page shows: the views that operators get, and the newest events
  // after `after`. Unavailable before the journal is recovered.
  absl::StatusOr<PageFacts> LookForPage(Revision after);

  // Says in one line what it does just now. Called on the loop, after Start().
  std::string Doing() const;

  int port() const { return port_; }
  // Returns the hash of the durable state once no batch is on its way to the
  // disk. Blocks, so it must not be called on the loop.
  uint64_t StateHash();

 private:
  // Has `look` fill an answer in on the loop, when the core stands on durable
  // ground, and waits for it. Unavailable: it does not come to that.
  template <typename Answer, typename Look>
  absl::StatusOr<Answer> AskLoop(Look look);
  absl::Status Recover();
  absl::Status Listen();

  const ServerOptions options_;
  runtime::EventLoop& loop_;
  ClusterShell shell_;
  ControlService control_;
  OperatorService operators_;
  PieceService pieces_;
  // Null without a cluster or TLS.
  std::unique_ptr<JoinService> join_;
  enum class Stage { kRecovering, kRecovered, kServing, kStopping };
  std::atomic<Stage> stage_ = Stage::kRecovering;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_SERVICE_COORDINATOR_SERVER_H_
