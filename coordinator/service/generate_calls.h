// coordinator/service/generate_calls.h
//
// Passes operators' prompts to a worker and the answers back.
#ifndef SKERRY_COORDINATOR_SERVICE_GENERATE_CALLS_H_
#define SKERRY_COORDINATOR_SERVICE_GENERATE_CALLS_H_

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/time/time.h"
#include "coordinator/core/cluster.h"
#include "coordinator/service/cluster_shell.h"
#include "proto/skerry/v1/operator.pb.h"
#include "runtime/event_loop.h"

namespace skerry::coordinator {

struct GenerateOptions {
  // Longest wait for a worker's answer.
  absl::Duration timeout = absl::Minutes(5);
};

class GenerateCalls {
 public:
  // Request numbers start above `term` * 2^32, so that none is used twice, also
  // across restarts. `loop` and `shell` outlive this, and this the server.
  GenerateCalls(const GenerateOptions& options, uint64_t term,
                runtime::EventLoop& loop, ClusterShell& shell);
  ~GenerateCalls();

  // On a gRPC thread; the messages live until the call is done. The caller has
  // checked that the call has a deadline.
  grpc::ServerUnaryReactor* Open(const v1::GenerateTextRequest* request,
                                 v1::GenerateTextReply* reply);

  // On the loop.
  void OnAnswers(std::vector<GenerateAnswer> answers);
  void Close(const absl::Status& why);

 private:
  class Call;

  void Admit(std::unique_ptr<Call> call);
  void Forget(uint64_t request);
  void Finish(uint64_t request, const absl::Status& status);

  const GenerateOptions options_;
  runtime::EventLoop& loop_;
  ClusterShell& shell_;
  std::atomic<uint64_t> next_request_;
  // All below: on the loop. How many wait is bounded by the core.
  absl::btree_map<uint64_t, std::unique_ptr<Call>> calls_;
  std::optional<absl::Status> closed_;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_SERVICE_GENERATE_CALLS_H_
