#include "coordinator/service/join_service.h"

#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "base/check.h"
#include "base/status.h"
#include "coordinator/service/grpc_status.h"
#include "coordinator/service/unary_checks.h"
#include "identity/name.h"
#include "identity/x509/certificate_request.h"
#include "runtime/log.h"

namespace skerry::coordinator {
namespace {

constexpr absl::Duration kWorkerLifetime = absl::Hours(24);
// Calls that wait for an answer.
constexpr size_t kCallsMax = 256;

// The certificate of the connection, which gRPC has verified.
absl::StatusOr<identity::Certificate> CertificateOf(
    const grpc::AuthContext& context) {
  const std::vector<grpc::string_ref> pem =
      context.FindPropertyValues("x509_pem_cert");
  if (!context.IsPeerAuthenticated() || pem.size() != 1) {
    return absl::UnauthenticatedError("the caller shows no certificate");
  }
  SKERRY_ASSIGN_OR_RETURN(std::vector<identity::Certificate> read,
                          identity::Certificate::ParsePem(
                              std::string_view(pem[0].data(), pem[0].size())));
  return std::move(read[0]);
}

absl::StatusOr<JoinAttempt> AttemptOf(const v1::JoinRequest& request,
                                      const identity::PublicKey& key,
                                      const std::string& address,
                                      const std::string& cluster) {
  JoinAttempt attempt;
  SKERRY_ASSIGN_OR_RETURN(attempt.token,
                          identity::ParseJoinToken(request.token()));
  SKERRY_RETURN_IF_ERROR(identity::CheckWord("worker", request.worker()));
  SKERRY_RETURN_IF_ERROR(identity::CheckWord("island", request.island()));
  attempt.worker = request.worker();
  attempt.island = request.island();
  attempt.key = key.Sha256();
  attempt.address = address;
  attempt.name = identity::FormatName(
      {cluster, identity::WorkerName{attempt.island, attempt.worker}});
  return attempt;
}

}  // namespace

std::string HostOfPeer(std::string_view peer) {
  const absl::string_view text(peer.data(), peer.size());
  const size_t scheme = text.find(':');
  const size_t port = text.rfind(':');
  if (scheme == text.npos || port <= scheme) return std::string(peer);
  return absl::StrReplaceAll(text.substr(scheme + 1, port - scheme - 1),
                             {{"%5B", ""}, {"%5D", ""}, {"[", ""}, {"]", ""}});
}

JoinService::JoinService(Issuer issuer, runtime::EventLoop& loop,
                         ClusterShell& shell)
    : issuer_(std::move(issuer)), loop_(loop), shell_(shell) {
  SKERRY_CHECK(issuer_.cluster != nullptr);
}

absl::Status JoinService::Admit(const std::string& address) {
  if (closed_.has_value()) return *closed_;
  if (calls_ >= kCallsMax) {
    return absl::UnavailableError(
        "many workers join at this moment; try again");
  }
  return limit_.Check(address, loop_.Now());
}

void JoinService::Finish(grpc::ServerUnaryReactor* reactor,
                         const std::string& address,
                         const JoinVerdict& verdict) {
  --calls_;
  if (verdict.refusal.has_value()) {
    ++refused_[static_cast<size_t>(*verdict.refusal)];
    limit_.Failed(address, loop_.Now());
    runtime::Log(runtime::Severity::kWarning, "coordinator.join.refused",
                 {{"address", address},
                  {"cause", std::string(verdict.status.message())}});
  } else if (verdict.status.ok()) {
    ++joined_;
  }
  reactor->Finish(ToGrpc(verdict.status));
}

absl::Status JoinService::Issue(const identity::WorkerName& worker,
                                const identity::PublicKey& key,
                                v1::JoinReply* reply) {
  const ClusterIdentity& cluster = *issuer_.cluster;
  SKERRY_ASSIGN_OR_RETURN(ClusterIdentity::Issued issued,
                          cluster.Issue({cluster.facts().name, worker}, key,
                                        kWorkerLifetime, issuer_.wall()));
  reply->set_chain(std::move(issued.chain));
  reply->set_authorities(cluster.authorities());
  return absl::OkStatus();
}

grpc::ServerUnaryReactor* JoinService::Join(Context* context,
                                            const v1::JoinRequest* request,
                                            v1::JoinReply* reply) {
  const absl::Status bounded = RequireDeadline(*context);
  if (!bounded.ok()) return AnswerNow(context, bounded);
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  loop_.Post(
      [this, reactor, request, reply, address = HostOfPeer(context->peer())] {
        Begin(reactor, *request, address, reply);
      });
  return reactor;
}

void JoinService::Begin(grpc::ServerUnaryReactor* reactor,
                        const v1::JoinRequest& request,
                        const std::string& address, v1::JoinReply* reply) {
  const absl::Status admitted = Admit(address);
  if (!admitted.ok()) {
    if (absl::IsResourceExhausted(admitted)) {
      ++refused_[static_cast<size_t>(JoinRefusal::kTooMany)];
    }
    reactor->Finish(ToGrpc(admitted));
    return;
  }
  ++calls_;
  const absl::StatusOr<identity::PublicKey> key =
      identity::KeyOfRequest(request.certificate_request());
  if (!key.ok()) {
    Finish(reactor, address, Refused(JoinRefusal::kBadRequest, key.status()));
    return;
  }
  const absl::StatusOr<JoinAttempt> attempt =
      AttemptOf(request, *key, address, issuer_.cluster->facts().name);
  if (!attempt.ok()) {
    Finish(reactor, address,
           Refused(JoinRefusal::kBadRequest, attempt.status()));
    return;
  }
  shell_.Do([this, reactor, reply, key = *key, attempt = *attempt](
                Cluster& cluster, Instant now) -> ClusterShell::Settled {
    JoinVerdict verdict;
    const absl::Status changed = cluster.ChangeJoins(
        [&](const JoinTable& joins)
            -> absl::StatusOr<std::optional<JoinChanged>> {
          verdict = joins.Judge(attempt, absl::ToUnixSeconds(issuer_.wall()));
          return verdict.change;
        },
        now);
    SKERRY_CHECK(changed.ok());
    return [this, reactor, reply, key, attempt, verdict = std::move(verdict)](
               const Cluster&, Instant) mutable {
      if (verdict.status.ok()) {
        verdict.status = Issue({attempt.island, attempt.worker}, key, reply);
      }
      Finish(reactor, attempt.address, verdict);
    };
  });
}

grpc::ServerUnaryReactor* JoinService::Renew(Context* context,
                                             const v1::RenewRequest*,
                                             v1::JoinReply* reply) {
  absl::Status checked = RequireDeadline(*context);
  absl::StatusOr<identity::Certificate> caller =
      CertificateOf(*context->auth_context());
  if (checked.ok()) checked = caller.status();
  if (!checked.ok()) return AnswerNow(context, checked);
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  loop_.Post([this, reactor, caller = *std::move(caller), reply] {
    BeginRenewal(reactor, caller, reply);
  });
  return reactor;
}

void JoinService::BeginRenewal(grpc::ServerUnaryReactor* reactor,
                               const identity::Certificate& caller,
                               v1::JoinReply* reply) {
  absl::Status admitted = closed_.value_or(absl::OkStatus());
  const auto* worker =
      caller.name().ok()
          ? std::get_if<identity::WorkerName>(&caller.name()->who)
          : nullptr;
  if (admitted.ok() &&
      (worker == nullptr ||
       caller.name()->cluster != issuer_.cluster->facts().name)) {
    admitted = absl::PermissionDeniedError(
        "only workers of this cluster renew their certificates here");
  }
  if (!admitted.ok()) {
    reactor->Finish(ToGrpc(admitted));
    return;
  }
  shell_.Look([this, reactor, reply, worker = *worker,
               key = caller.public_key()](const Cluster& cluster, Instant) {
    absl::Status status = cluster.joins().CheckRenewal(
        worker.worker, worker.island, key.Sha256());
    if (status.ok()) status = Issue(worker, key, reply);
    reactor->Finish(ToGrpc(status));
  });
}

void JoinService::Close(const absl::Status& why) { closed_ = why; }

runtime::Metric JoinService::Counted() const {
  runtime::Metric metric{
      "skerry_joins_total",
      "Attempts of workers to join, by result.",
      runtime::Metric::Kind::kCounter,
      {{{{"result", "joined"}}, static_cast<double>(joined_)}}};
  for (size_t i = 0; i < kJoinRefusalCount; ++i) {
    const std::string_view word = WordOf(static_cast<JoinRefusal>(i));
    metric.samples.push_back(
        {{{"result", std::string(word)}}, static_cast<double>(refused_[i])});
  }
  return metric;
}

}  // namespace skerry::coordinator
