// coordinator/service/operator_service.h
//
// Serves operators. A change is answered once it is durable, and a view shows
// durable state.
#ifndef SKERRY_COORDINATOR_SERVICE_OPERATOR_SERVICE_H_
#define SKERRY_COORDINATOR_SERVICE_OPERATOR_SERVICE_H_

#include <grpcpp/grpcpp.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "coordinator/core/cluster.h"
#include "coordinator/service/cluster_shell.h"
#include "coordinator/service/event_streams.h"
#include "coordinator/service/generate_calls.h"
#include "coordinator/service/issuer.h"
#include "coordinator/service/job_watches.h"
#include "proto/skerry/v1/operator.grpc.pb.h"
#include "runtime/event_loop.h"
#include "runtime/machine.h"
#include "transport/grpc/revocations.h"

namespace skerry::coordinator {

struct OperatorOptions {
  // Unary calls waiting for an answer.
  size_t calls_max = 1024;
  WatchOptions watches;
  EventStreamOptions events;
  GenerateOptions generate;
  // This machine, as GetVersion tells of it.
  runtime::LookAtMachine look;
  Issuer issuer;
  // What the server's calls are checked against; it gets the cluster's list.
  std::shared_ptr<transport::Revocations> revocations =
      std::make_shared<transport::Revocations>();
};

// The methods of the service run on gRPC threads, all else on the loop. A unary
// call without a deadline is refused with INVALID_ARGUMENT.
class OperatorService final : public v1::Operator::CallbackService,
                              public SettledObserver {
 public:
  // `loop` and `shell` outlive the service, and the service the server. `term`
  // is the journal's.
  OperatorService(const OperatorOptions& options, uint64_t term,
                  runtime::EventLoop& loop, ClusterShell& shell);

  using Context = grpc::CallbackServerContext;
  grpc::ServerUnaryReactor* SubmitJob(Context* context,
                                      const v1::SubmitJobRequest* request,
                                      v1::SubmitJobReply* reply) override;
  grpc::ServerUnaryReactor* GetJob(Context* context,
                                   const v1::GetJobRequest* request,
                                   v1::JobView* reply) override;
  grpc::ServerUnaryReactor* ListJobs(Context* context,
                                     const v1::ListJobsRequest* request,
                                     v1::ListJobsReply* reply) override;
  grpc::ServerWriteReactor<v1::JobView>* WatchJob(
      Context* context, const v1::GetJobRequest* request) override;
  grpc::ServerUnaryReactor* CancelJob(Context* context,
                                      const v1::CancelJobRequest* request,
                                      v1::JobView* reply) override;
  grpc::ServerUnaryReactor* DeleteJob(Context* context,
                                      const v1::DeleteJobRequest* request,
                                      v1::JobView* reply) override;
  grpc::ServerUnaryReactor* PauseJob(Context* context,
                                     const v1::PauseJobRequest* request,
                                     v1::JobView* reply) override;
  grpc::ServerUnaryReactor* ResumeJob(Context* context,
                                      const v1::ResumeJobRequest* request,
                                      v1::JobView* reply) override;
  grpc::ServerUnaryReactor* RestoreJob(Context* context,
                                       const v1::RestoreJobRequest* request,
                                       v1::JobView* reply) override;
  grpc::ServerUnaryReactor* PlanJob(Context* context,
                                    const v1::PlanJobRequest* request,
                                    v1::PlanJobReply* reply) override;
  grpc::ServerUnaryReactor* RemoveStoredJobs(
      Context* context, const v1::RemoveStoredJobsRequest* request,
      v1::WorkerView* reply) override;
  grpc::ServerUnaryReactor* SetWorkerIntent(
      Context* context, const v1::SetWorkerIntentRequest* request,
      v1::WorkerView* reply) override;
  grpc::ServerUnaryReactor* ListWorkers(Context* context,
                                        const v1::ListWorkersRequest* request,
                                        v1::ListWorkersReply* reply) override;
  grpc::ServerWriteReactor<v1::Event>* StreamEvents(
      Context* context, const v1::StreamEventsRequest* request) override;
  grpc::ServerUnaryReactor* AuditData(Context* context,
                                      const v1::AuditDataRequest* request,
                                      v1::AuditDataReply* reply) override;
  grpc::ServerUnaryReactor* Generate(Context* context,
                                     const v1::GenerateTextRequest* request,
                                     v1::GenerateTextReply* reply) override;
  grpc::ServerUnaryReactor* LocateState(Context* context,
                                        const v1::GetJobRequest* request,
                                        v1::StateView* reply) override;
  grpc::ServerUnaryReactor* GetVersion(Context* context,
                                       const v1::GetVersionRequest* request,
                                       v1::GetVersionReply* reply) override;

  // operator_access.cc has these.
  grpc::ServerUnaryReactor* CreateToken(Context* context,
                                        const v1::CreateTokenRequest* request,
                                        v1::CreateTokenReply* reply) override;
  grpc::ServerUnaryReactor* ListTokens(Context* context,
                                       const v1::ListTokensRequest* request,
                                       v1::ListTokensReply* reply) override;
  grpc::ServerUnaryReactor* DeleteToken(Context* context,
                                        const v1::DeleteTokenRequest* request,
                                        v1::DeleteTokenReply* reply) override;
  grpc::ServerUnaryReactor* ForgetWorker(Context* context,
                                         const v1::ForgetWorkerRequest* request,
                                         v1::ForgetWorkerReply* reply) override;
  grpc::ServerUnaryReactor* RevokeCertificate(
      Context* context, const v1::RevokeCertificateRequest* request,
      v1::RevokeCertificateReply* reply) override;
  grpc::ServerUnaryReactor* LiftRevocation(
      Context* context, const v1::LiftRevocationRequest* request,
      v1::LiftRevocationReply* reply) override;
  grpc::ServerUnaryReactor* ListRevocations(
      Context* context, const v1::ListRevocationsRequest* request,
      v1::ListRevocationsReply* reply) override;
  grpc::ServerUnaryReactor* IssueOperator(
      Context* context, const v1::IssueOperatorRequest* request,
      v1::IssueOperatorReply* reply) override;

  // Has calls checked against the list of what is revoked as it is now.
  void ApplyRevoked(const Cluster& cluster);
  void OnSettled(const Cluster& cluster, Instant now,
                 std::span<const Entry> fresh,
                 std::vector<GenerateAnswer> answers) override;
  EventHistory SaveEvents() override { return events_.SaveEvents(); }
  void OnRestored(const EventHistory& events, Instant now) override {
    events_.RestoreEvents(events, now);
  }
  // Returns what EventLog::Newest does.
  std::vector<LoggedEvent> NewestEvents(Revision after, size_t most) const {
    return events_.Newest(after, most);
  }
  // Ends every stream with `why`, and every later call at once.
  void Close(const absl::Status& why);

 private:
  using Change = absl::AnyInvocable<absl::Status(Cluster&, Instant) &&>;
  using View = absl::AnyInvocable<absl::Status(const Cluster&, Instant) &&>;
  using Admitted = absl::AnyInvocable<void(grpc::ServerUnaryReactor*) &&>;

  // Runs `begin` on the loop, which ends in Answer, if the call is admitted.
  grpc::ServerUnaryReactor* Take(Context* context, Admitted begin);
  // Runs `change` and, if it is OK, `view` once the change is durable. The call
  // ends with the error of either.
  grpc::ServerUnaryReactor* Run(Context* context, Change change, View view);
  // Runs `view`, and does not wait for what others are about to change.
  grpc::ServerUnaryReactor* Show(Context* context, View view);
  // Answers PauseJob and ResumeJob, whose request is `Request`.
  template <typename Request>
  grpc::ServerUnaryReactor* SetPaused(Context* context, const Request* request,
                                      bool paused, v1::JobView* reply);
  absl::Status Admit();
  // Changes by `rule` who may join, and answers with nothing.
  template <typename Rule>
  grpc::ServerUnaryReactor* ChangeJoins(Context* context,
                                        const v1::IdempotencyKey& idempotency,
                                        Rule rule);
  // Changes what is revoked by `rule`, which is given the cluster's name, and
  // answers with `what` as it stands in the list.
  template <typename Rule>
  grpc::ServerUnaryReactor* ChangeRevoked(Context* context,
                                          const v1::IdempotencyKey& idempotency,
                                          const std::string& what, Rule rule,
                                          v1::RevocationView* view);
  absl::Status RequireCluster() const;
  // Requires: there is a cluster.
  int64_t WallSeconds() const;
  absl::Status Issue(const v1::IssueOperatorRequest& request,
                     v1::IssueOperatorReply* reply) const;
  // A job that ends or is deleted leaves memory free. Jobs that do so together
  // are waited for.
  void ReturnHeapSoon();
  void Answer(grpc::ServerUnaryReactor* reactor, const absl::Status& status);

  const OperatorOptions options_;
  runtime::EventLoop& loop_;
  ClusterShell& shell_;
  JobWatches watches_;
  EventStreams events_;
  GenerateCalls generate_;
  // On the loop.
  size_t calls_ = 0;
  uint64_t revoked_version_ = 0;
  bool returns_heap_ = false;
  std::optional<absl::Status> closed_;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_SERVICE_OPERATOR_SERVICE_H_
