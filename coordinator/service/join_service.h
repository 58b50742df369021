// coordinator/service/join_service.h
//
// Lets workers in: a token and a key become a certificate. The use of the token
// is durable before the certificate leaves.
#ifndef SKERRY_COORDINATOR_SERVICE_JOIN_SERVICE_H_
#define SKERRY_COORDINATOR_SERVICE_JOIN_SERVICE_H_

#include <grpcpp/grpcpp.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/core/log/join_table.h"
#include "coordinator/core/rules/join_limit.h"
#include "coordinator/service/cluster_shell.h"
#include "coordinator/service/issuer.h"
#include "proto/skerry/v1/join.grpc.pb.h"
#include "runtime/event_loop.h"
#include "runtime/metrics.h"

namespace skerry::coordinator {

// The methods of the service run on gRPC threads, all else on the loop.
class JoinService final : public v1::Join::CallbackService {
 public:
  // `loop` and `shell` outlive the service, and the service the server.
  // Requires: the issuer has a cluster.
  JoinService(Issuer issuer, runtime::EventLoop& loop, ClusterShell& shell);

  using Context = grpc::CallbackServerContext;
  grpc::ServerUnaryReactor* Join(Context* context,
                                 const v1::JoinRequest* request,
                                 v1::JoinReply* reply) override;
  grpc::ServerUnaryReactor* Renew(Context* context,
                                  const v1::RenewRequest* request,
                                  v1::JoinReply* reply) override;

  // Ends every later call with `why`.
  void Close(const absl::Status& why);
  // Joins by result.
  runtime::Metric Counted() const;

 private:
  void Begin(grpc::ServerUnaryReactor* reactor, const v1::JoinRequest& request,
             const std::string& address, v1::JoinReply* reply);
  void BeginRenewal(grpc::ServerUnaryReactor* reactor,
                    const identity::Certificate& caller, v1::JoinReply* reply);
  // Counts and answers. `address` may fail so often.
  void Finish(grpc::ServerUnaryReactor* reactor, const std::string& address,
              const JoinVerdict& verdict);
  absl::Status Admit(const std::string& address);
  absl::Status Issue(const identity::WorkerName& worker,
                     const identity::PublicKey& key, v1::JoinReply* reply);

  const Issuer issuer_;
  runtime::EventLoop& loop_;
  ClusterShell& shell_;
  // All below: on the loop.
  JoinLimit limit_;
  size_t calls_ = 0;
  uint64_t joined_ = 0;
  std::array<uint64_t, kJoinRefusalCount> refused_ = {};
  std::optional<absl::Status> closed_;
};

// The host of a caller as gRPC names it: "ipv4:10.0.0.7:1234" is 10.0.0.7.
std::string HostOfPeer(std::string_view peer);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_SERVICE_JOIN_SERVICE_H_
