// cli/client.h
//
// This is the coordinator as skerryctl sees it. Every call blocks.
#ifndef SKERRY_CLI_CLIENT_H_
#define SKERRY_CLI_CLIENT_H_

#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/skerry/v1/operator.pb.h"
#include "proto/skerry/v1/piece.pb.h"

namespace skerry::transport {
class Credentials;
}  // namespace skerry::transport

namespace skerry::cli {

// Calls are repeated for about two seconds while the coordinator cannot be
// reached; mutations carry a key, so that a repeat has no second effect.
//
// Errors: the coordinator's own, with its words; Unavailable and
// DeadlineExceeded name the address.
class Client {
 public:
  // No unary call takes longer than `timeout_max`. Errors: InvalidArgument, an
  // address that `credentials` do not reach.
  static absl::StatusOr<std::unique_ptr<Client>> Make(
      const std::string& address,
      std::shared_ptr<transport::Credentials> credentials,
      absl::Duration timeout_max = absl::InfiniteDuration());
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Returns the address at which it looks for the coordinator.
  const std::string& address() const;
  // With which workers of the cluster can be asked, too.
  const std::shared_ptr<transport::Credentials>& credentials() const;

  // `apply`: the job that is there already is no error.
  absl::StatusOr<v1::SubmitJobReply> Submit(const v1::JobSpec& spec,
                                            bool apply = false);
  absl::StatusOr<v1::JobView> Delete(const std::string& name);
  absl::StatusOr<v1::JobView> GetJob(const std::string& name);
  absl::StatusOr<v1::ListJobsReply> ListJobs();
  absl::StatusOr<v1::JobView> Cancel(const std::string& name);
  absl::StatusOr<v1::JobView> Pause(const std::string& name);
  absl::StatusOr<v1::JobView> Resume(const std::string& name);
  absl::StatusOr<v1::JobView> Restore(v1::RestoreJobRequest request);
  absl::StatusOr<v1::PlanJobReply> Plan(const v1::PlanJobRequest& request);
  absl::StatusOr<v1::ListWorkersReply> ListWorkers();
  absl::StatusOr<v1::WorkerView> SetIntent(const std::string& worker,
                                           v1::WorkerIntent intent);
  // The worker removes these folders from its disk.
  absl::StatusOr<v1::WorkerView> RemoveStoredJobs(
      v1::RemoveStoredJobsRequest request);
  absl::StatusOr<v1::AuditDataReply> Audit(const std::string& name);
  absl::StatusOr<v1::GenerateTextReply> Generate(
      const v1::GenerateTextRequest& request, absl::Duration timeout);
  absl::StatusOr<v1::StateView> LocateState(const std::string& name);
  // Fetches the bytes of a piece of a job's state from one of the workers that
  // the request names, through the coordinator. A transfer that breaks goes on
  // where it ended, with the next worker. The caller compares the hash. Several
  // threads may call it, after LocateState().
  //
  // Errors: NotFound when none of them has the piece; Unavailable when none of
  // them can send it; ResourceExhausted when too many are on their way.
  absl::StatusOr<std::string> FetchPiece(v1::FetchPieceRequest request);
  absl::StatusOr<v1::GetVersionReply> GetVersion();
  absl::StatusOr<v1::CreateTokenReply> CreateToken(
      v1::CreateTokenRequest request);
  absl::StatusOr<v1::ListTokensReply> ListTokens();
  absl::Status DeleteToken(const std::string& id);
  absl::Status ForgetWorker(const std::string& worker);
  absl::StatusOr<v1::RevocationView> Revoke(const std::string& what,
                                            const std::string& reason);
  absl::StatusOr<v1::RevocationView> LiftRevocation(const std::string& what);
  absl::StatusOr<v1::ListRevocationsReply> ListRevocations();
  absl::StatusOr<v1::IssueOperatorReply> IssueOperator(
      v1::IssueOperatorRequest request);

  // Hands over views, rising in revision, until the job ends or `take` answers
  // false. A connection that breaks is made again, without a gap. Errors:
  // DeadlineExceeded when that takes longer than `limit`.
  absl::Status Watch(const std::string& name, absl::Duration limit,
                     absl::FunctionRef<bool(const v1::JobView&)> take);
  // Hands over every event once. With `follow` until the job ends, of a worker
  // for ever; then a connection that breaks is made again.
  absl::Status StreamEvents(v1::StreamEventsRequest request,
                            absl::FunctionRef<void(const v1::Event&)> take);

 private:
  struct Connection;
  explicit Client(std::unique_ptr<Connection> connection);
  bool Reconnected(const absl::Status& broken);

  const std::unique_ptr<Connection> connection_;
};

}  // namespace skerry::cli

#endif  // SKERRY_CLI_CLIENT_H_
