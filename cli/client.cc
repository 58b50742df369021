#include "cli/client.h"

#include <grpcpp/grpcpp.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/release.h"
#include "base/status.h"
#include "proto/skerry/v1/operator.grpc.pb.h"
#include "proto/skerry/v1/piece.grpc.pb.h"
#include "transport/address.h"
#include "transport/grpc/credentials.h"
#include "transport/grpc/plain_cause.h"

namespace skerry::cli {
namespace {

constexpr absl::Duration kViewTimeout = absl::Seconds(10);
constexpr absl::Duration kMutationTimeout = absl::Seconds(30);
constexpr absl::Duration kReconnectTimeout = absl::Seconds(30);
// Views of long jobs hold their whole loss curve.
constexpr int kReceiveBytesMax = 64 << 20;
constexpr size_t kPieceBytesMax = size_t{4} << 30;
// How often a piece is asked for again when nothing comes, beside once for each
// worker that has it.
constexpr int kPieceRetries = 1;
constexpr int kPingIntervalMs = 20'000;
constexpr int kPingTimeoutMs = 10'000;

// Every method may be repeated: reads have no effect and mutations have a key.
constexpr char kServiceConfig[] = R"({"methodConfig": [{
  "name": [{"service": "skerry.v1.Operator"}],
  "retryPolicy": {"maxAttempts": 5, "initialBackoff": "0.3s",
                  "maxBackoff": "1s", "backoffMultiplier": 1.5,
                  "retryableStatusCodes": ["UNAVAILABLE"]}}]})";

// gRPC adds a time span to the present itself.
gpr_timespec Within(absl::Duration timeout) {
  return gpr_time_from_millis(absl::ToInt64Milliseconds(timeout), GPR_TIMESPAN);
}

// A moment, for all that is done within `limit` together.
gpr_timespec After(absl::Duration limit) {
  if (limit == absl::InfiniteDuration()) {
    return gpr_inf_future(GPR_CLOCK_MONOTONIC);
  }
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), Within(limit));
}

std::shared_ptr<grpc::Channel> ChannelTo(
    const std::string& address, const transport::Credentials& credentials) {
  grpc::ChannelArguments arguments;
  arguments.SetServiceConfigJSON(kServiceConfig);
  arguments.SetMaxReceiveMessageSize(kReceiveBytesMax);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kPingIntervalMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kPingTimeoutMs);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 200);
  // In this library also the limit of one attempt to connect.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 5000);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  return credentials.ChannelTo(address, transport::ServerKind::kCoordinator,
                               arguments);
}

absl::StatusOr<std::string> RandomKey() {
  char bytes[16];
  if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes)) {
    return absl::InternalError(
        absl::StrCat("no random bytes: ", std::strerror(errno)));
  }
  return absl::BytesToHexString(absl::string_view(bytes, sizeof(bytes)));
}

bool Ended(v1::JobPhase phase) {
  return phase == v1::JOB_PHASE_SUCCEEDED || phase == v1::JOB_PHASE_FAILED ||
         phase == v1::JOB_PHASE_CANCELLED;
}

}  // namespace

struct Client::Connection {
  std::string address;
  std::shared_ptr<transport::Credentials> credentials;
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::Operator::Stub> stub;
  absl::Duration timeout_max = absl::InfiniteDuration();
  bool same_protocol = false;  // as the coordinator has said

  absl::Status FromGrpc(const grpc::Status& status) const {
    if (status.ok()) return absl::OkStatus();
    const auto code = static_cast<absl::StatusCode>(status.error_code());
    // Nothing is cancelled here, so it was a coordinator that stops.
    if (code == absl::StatusCode::kUnavailable ||
        code == absl::StatusCode::kCancelled) {
      return absl::UnavailableError(absl::StrCat(
          "coordinator ", address,
          " cannot be reached: ", transport::PlainCause(status.error_message()),
          "; start it, or correct --coordinator or the context"));
    }
    if (code == absl::StatusCode::kDeadlineExceeded) {
      return absl::DeadlineExceededError(
          absl::StrCat("coordinator ", address, " did not answer in time"));
    }
    return absl::Status(code, status.error_message());
  }

  // Before the first call: two that speak different protocols may read the
  // same message differently.
  absl::Status RequireSameProtocol() {
    if (same_protocol) return absl::OkStatus();
    v1::GetVersionRequest request;
    request.set_protocol_version(kProtocolVersion);
    SKERRY_RETURN_IF_ERROR(
        Send(&v1::Operator::Stub::GetVersion, request, kViewTimeout).status());
    same_protocol = true;
    return absl::OkStatus();
  }

  template <typename Reply, typename Request>
  absl::StatusOr<Reply> Call(grpc::Status (v1::Operator::Stub::*method)(
                                 grpc::ClientContext*, const Request&, Reply*),
                             const Request& request, absl::Duration timeout) {
    SKERRY_RETURN_IF_ERROR(RequireSameProtocol());
    return Send(method, request, timeout);
  }

  // Calls `method` of the stub.
  template <typename Reply, typename Request>
  absl::StatusOr<Reply> Send(grpc::Status (v1::Operator::Stub::*method)(
                                 grpc::ClientContext*, const Request&, Reply*),
                             const Request& request, absl::Duration timeout) {
    grpc::ClientContext context;
    context.set_deadline(Within(std::min(timeout, timeout_max)));
    Reply reply;
    const absl::Status status =
        FromGrpc((stub.get()->*method)(&context, request, &reply));
    if (!status.ok()) return status;
    return reply;
  }
};

absl::StatusOr<std::unique_ptr<Client>> Client::Make(
    const std::string& address,
    std::shared_ptr<transport::Credentials> credentials,
    absl::Duration timeout_max) {
  SKERRY_RETURN_IF_ERROR(
      transport::CheckAddress(address, transport::AddressUse::kConnect));
  SKERRY_RETURN_IF_ERROR(credentials->CheckReach(address));
  auto connection = std::make_unique<Connection>();
  connection->address = address;
  connection->timeout_max = timeout_max;
  connection->credentials = std::move(credentials);
  connection->channel = ChannelTo(address, *connection->credentials);
  connection->stub = v1::Operator::NewStub(connection->channel);
  return std::unique_ptr<Client>(new Client(std::move(connection)));
}

Client::Client(std::unique_ptr<Connection> connection)
    : connection_(std::move(connection)) {}

Client::~Client() = default;

const std::string& Client::address() const { return connection_->address; }

const std::shared_ptr<transport::Credentials>& Client::credentials() const {
  return connection_->credentials;
}

absl::StatusOr<v1::SubmitJobReply> Client::Submit(const v1::JobSpec& spec,
                                                  bool apply) {
  v1::SubmitJobRequest request;
  SKERRY_ASSIGN_OR_RETURN(*request.mutable_idempotency()->mutable_key(),
                          RandomKey());
  *request.mutable_spec() = spec;
  request.set_apply(apply);
  return connection_->Call(&v1::Operator::Stub::SubmitJob, request,
                           kMutationTimeout);
}

absl::StatusOr<v1::JobView> Client::GetJob(const std::string& name) {
  v1::GetJobRequest request;
  request.set_name(name);
  return connection_->Call(&v1::Operator::Stub::GetJob, request, kViewTimeout);
}

absl::StatusOr<v1::ListJobsReply> Client::ListJobs() {
  return connection_->Call(&v1::Operator::Stub::ListJobs, v1::ListJobsRequest(),
                           kViewTimeout);
}

absl::StatusOr<v1::JobView> Client::Cancel(const std::string& name) {
  v1::CancelJobRequest request;
  SKERRY_ASSIGN_OR_RETURN(*request.mutable_idempotency()->mutable_key(),
                          RandomKey());
  request.set_name(name);
  return connection_->Call(&v1::Operator::Stub::CancelJob, request,
                           kMutationTimeout);
}

absl::StatusOr<v1::JobView> Client::Delete(const std::string& name) {
  v1::DeleteJobRequest request;
  SKERRY_ASSIGN_OR_RETURN(*request.mutable_idempotency()->mutable_key(),
                          RandomKey());
  request.set_name(name);
  return connection_->Call(&v1::Operator::Stub::DeleteJob, request,
                           kMutationTimeout);
}

absl::StatusOr<v1::JobView> Client::Pause(const std::string& name) {
  v1::PauseJobRequest request;
  SKERRY_ASSIGN_OR_RETURN(*request.mutable_idempotency()->mutable_key(),
                          RandomKey());
  request.set_name(name);
  return connection_->Call(&v1::Operator::Stub::PauseJob, request,
                           kMutationTimeout);
}

absl::StatusOr<v1::JobView> Client::Resume(const std::string& name) {
  v1::ResumeJobRequest request;
  SKERRY_ASSIGN_OR_RETURN(*request.mutable_idempotency()->mutable_key(),
                          RandomKey());
  request.set_name(name);
  return connection_->Call(&v1::Operator::Stub::ResumeJob, request,
                           kMutationTimeout);
}

absl::StatusOr<v1::JobView> Client::Restore(v1::RestoreJobRequest request) {
  SKERRY_ASSIGN_OR_RETURN(*request.mutable_idempotency()->mutable_key(),
                          RandomKey());
  return connection_->Call(&v1::Operator::Stub::RestoreJob, request,
                           kMutationTimeout);
}

absl::StatusOr<v1::PlanJobReply> Client::Plan(
    const v1::PlanJobRequest& request) {
  return connection_->Call(&v1::Operator::Stub::PlanJob, request, kViewTimeout);
}

absl::StatusOr<v1::WorkerView> Client::SetIntent(const std::string& worker,
                                                 v1::WorkerIntent intent) {
  v1::SetWorkerIntentRequest request;
  SKERRY_ASSIGN_OR_RETURN(*request.mutable_idempotency()->mutable_key(),
                          RandomKey());
  request.set_worker(worker);
  request.set_intent(intent);
  return connection_->Call(&v1::Operator::Stub::SetWorkerIntent, request,
                           kMutationTimeout);
}

absl::StatusOr<v1::WorkerView> Client::RemoveStoredJobs(
    v1::RemoveStoredJobsRequest request) {
  SKERRY_ASSIGN_OR_RETURN(*request.mutable_idempotency()->mutable_key(),
                          RandomKey());
  return connection_->Call(&v1::Operator::Stub::RemoveStoredJobs, request,
                           kMutationTimeout);
}

absl::StatusOr<v1::ListWorkersReply> Client::ListWorkers() {
  return connection_->Call(&v1::Operator::Stub::ListWorkers,
                           v1::ListWorkersRequest(), kViewTimeout);
}

absl::StatusOr<v1::AuditDataReply> Client::Audit(const std::string& name) {
  v1::AuditDataRequest request;
  request.set_name(name);
  return connection_->Call(&v1::Operator::Stub::AuditData, request,
                           kViewTimeout);
}

absl::StatusOr<v1::GenerateTextReply> Client::Generate(
    const v1::GenerateTextRequest& request, absl::Duration timeout) {
  return connection_->Call(&v1::Operator::Stub::Generate, request, timeout);
}

absl::StatusOr<v1::StateView> Client::LocateState(const std::string& name) {
  v1::GetJobRequest request;
  request.set_name(name);
  return connection_->Call(&v1::Operator::Stub::LocateState, request,
                           kViewTimeout);
}

absl::StatusOr<v1::GetVersionReply> Client::GetVersion() {
  v1::GetVersionRequest request;
  request.set_protocol_version(kProtocolVersion);
  return connection_->Send(&v1::Operator::Stub::GetVersion, request,
                           kViewTimeout);
}

absl::StatusOr<v1::CreateTokenReply> Client::CreateToken(
    v1::CreateTokenRequest request) {
  SKERRY_ASSIGN_OR_RETURN(*request.mutable_idempotency()->mutable_key(),
                          RandomKey());
  return connection_->Call(&v1::Operator::Stub::CreateToken, request,
                           kMutationTimeout);
}

absl::StatusOr<v1::ListTokensReply> Client::ListTokens() {
  return connection_->Call(&v1::Operator::Stub::ListTokens,
                           v1::ListTokensRequest(), kViewTimeout);
}

absl::Status Client::DeleteToken(const std::string& id) {
  v1::DeleteTokenRequest request;
  SKERRY_ASSIGN_OR_RETURN(*request.mutable_idempotency()->mutable_key(),
                          RandomKey());
  request.set_id(id);
  return connection_
      ->Call(&v1::Operator::Stub::DeleteToken, request, kMutationTimeout)
      .status();
}

absl::Status Client::ForgetWorker(const std::string& worker) {
  v1::ForgetWorkerRequest request;
  SKERRY_ASSIGN_OR_RETURN(*request.mutable_idempotency()->mutable_key(),
                          RandomKey());
  request.set_worker(worker);
  return connection_
      ->Call(&v1::Operator::Stub::ForgetWorker, request, kMutationTimeout)
      .status();
}

absl::StatusOr<v1::RevocationView> Client::Revoke(const std::string& what,
                                                  const std::string& reason) {
  v1::RevokeCertificateRequest request;
  SKERRY_ASSIGN_OR_RETURN(*request.mutable_idempotency()->mutable_key(),
                          RandomKey());
  request.set_what(what);
  request.set_reason(reason);
  SKERRY_ASSIGN_OR_RETURN(
      v1::RevokeCertificateReply reply,
      connection_->Call(&v1::Operator::Stub::RevokeCertificate, request,
                        kMutationTimeout));
  return std::move(*reply.mutable_revocation());
}

absl::StatusOr<v1::RevocationView> Client::LiftRevocation(
    const std::string& what) {
  v1::LiftRevocationRequest request;
  SKERRY_ASSIGN_OR_RETURN(*request.mutable_idempotency()->mutable_key(),
                          RandomKey());
  request.set_what(what);
  SKERRY_ASSIGN_OR_RETURN(v1::LiftRevocationReply reply,
                          connection_->Call(&v1::Operator::Stub::LiftRevocation,
                                            request, kMutationTimeout));
  return std::move(*reply.mutable_revocation());
}

absl::StatusOr<v1::ListRevocationsReply> Client::ListRevocations() {
  return connection_->Call(&v1::Operator::Stub::ListRevocations,
                           v1::ListRevocationsRequest(), kViewTimeout);
}

absl::StatusOr<v1::IssueOperatorReply> Client::IssueOperator(
    v1::IssueOperatorRequest request) {
  SKERRY_ASSIGN_OR_RETURN(*request.mutable_idempotency()->mutable_key(),
                          RandomKey());
  return connection_->Call(&v1::Operator::Stub::IssueOperator, request,
                           kMutationTimeout);
}

bool Client::Reconnected(const absl::Status& broken) {
  return absl::IsUnavailable(broken) &&
         connection_->channel->WaitForConnected(Within(kReconnectTimeout));
}

absl::StatusOr<std::string> Client::FetchPiece(v1::FetchPieceRequest request) {
  const auto stub = v1::Pieces::NewStub(connection_->channel);
  std::string bytes;
  // Without a byte in between.
  int failures = 0;
  const int failures_max = request.workers_size() + kPieceRetries;
  for (;;) {
    const size_t before = bytes.size();
    request.set_offset(before);
    grpc::ClientContext context;
    const auto stream = stub->FetchPiece(&context, request);
    v1::PieceChunk chunk;
    while (bytes.size() <= kPieceBytesMax && stream->Read(&chunk)) {
      bytes += chunk.data();
    }
    if (bytes.size() > kPieceBytesMax) context.TryCancel();
    const grpc::Status ended = stream->Finish();
    if (bytes.size() > kPieceBytesMax) {
      return absl::ResourceExhaustedError("the piece is above 4 GiB");
    }
    if (ended.ok()) return bytes;
    failures = bytes.size() > before ? 0 : failures + 1;
    const bool may_help = ended.error_code() == grpc::UNAVAILABLE ||
                          ended.error_code() == grpc::NOT_FOUND;
    if (!may_help || failures >= failures_max) {
      return absl::Status(static_cast<absl::StatusCode>(ended.error_code()),
                          transport::PlainCause(ended.error_message()));
    }
    auto& workers = *request.mutable_workers();
    std::rotate(workers.begin(), workers.begin() + 1, workers.end());
  }
}

absl::Status Client::Watch(const std::string& name, absl::Duration limit,
                           absl::FunctionRef<bool(const v1::JobView&)> take) {
  SKERRY_RETURN_IF_ERROR(connection_->RequireSameProtocol());
  v1::GetJobRequest request;
  request.set_name(name);
  uint64_t revision = 0;
  const gpr_timespec end = After(limit);
  for (bool begun = false;;) {
    grpc::ClientContext context;
    context.set_deadline(end);
    const auto stream = connection_->stub->WatchJob(&context, request);
    v1::JobView view;
    while (stream->Read(&view)) {
      // By id from here on: another job may take the name.
      begun = true;
      request.set_id(view.id());
      if (view.revision() < revision) continue;
      revision = view.revision();
      if (take(view)) continue;
      context.TryCancel();
      while (stream->Read(&view)) {
      }
      stream->Finish();
      return absl::OkStatus();
    }
    const absl::Status ended = connection_->FromGrpc(stream->Finish());
    if (ended.ok() || Ended(view.phase())) return absl::OkStatus();
    if (!begun || !Reconnected(ended)) return ended;
  }
}

absl::Status Client::StreamEvents(
    v1::StreamEventsRequest request,
    absl::FunctionRef<void(const v1::Event&)> take) {
  SKERRY_RETURN_IF_ERROR(connection_->RequireSameProtocol());
  for (bool begun = false;;) {
    grpc::ClientContext context;
    const auto stream = connection_->stub->StreamEvents(&context, request);
    v1::Event event;
    while (stream->Read(&event)) {
      begun = true;
      if (event.job() != 0 && request.worker().empty()) {
        request.set_id(event.job());
      }
      request.set_after(event.revision());
      take(event);
    }
    const absl::Status ended = connection_->FromGrpc(stream->Finish());
    if (ended.ok() || !begun || !Reconnected(ended)) return ended;
  }
}

}  // namespace skerry::cli
