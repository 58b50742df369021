// The calls of OperatorService about who may take part: tokens, workers' names,
// revoked certificates and other operators.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "coordinator/service/operator_service.h"
#include "coordinator/service/unary_checks.h"
#include "identity/join_token.h"
#include "identity/name.h"
#include "identity/x509/certificate_request.h"
#include "runtime/log.h"

namespace skerry::coordinator {
namespace {

constexpr uint64_t kTokenLifeMaxS = 366 * 24 * 3600;
constexpr uint64_t kOperatorLifeMaxS = 366 * 24 * 3600;

absl::Status CheckSeconds(const char* field, uint64_t seconds, uint64_t most) {
  if (seconds >= 1 && seconds <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": has to be 1 to ", most, " seconds"));
}

void TokenToProto(const Token& token, int64_t now_s, v1::TokenView* out) {
  out->set_id(token.made.id);
  out->set_island(token.made.island);
  out->set_worker_pattern(token.made.worker_pattern);
  out->set_expires_in_s(token.made.expires_unix_s - now_s);
  out->set_uses(token.uses);
  out->set_uses_max(token.made.uses_max);
}

}  // namespace

absl::Status OperatorService::RequireCluster() const {
  if (options_.issuer.cluster != nullptr) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "the coordinator has no cluster, so nobody needs to be let in; make one "
      "with: skerry-coordinator init");
}

int64_t OperatorService::WallSeconds() const {
  return absl::ToUnixSeconds(options_.issuer.wall());
}

grpc::ServerUnaryReactor* OperatorService::CreateToken(
    Context* context, const v1::CreateTokenRequest* request,
    v1::CreateTokenReply* reply) {
  absl::Status checked = CheckKey(request->idempotency());
  if (checked.ok()) checked = RequireCluster();
  if (checked.ok()) {
    checked = CheckSeconds("ttl_s", request->ttl_s(), kTokenLifeMaxS);
  }
  if (!checked.ok()) return AnswerNow(context, checked);
  const identity::JoinToken token =
      identity::DrawJoinToken(options_.issuer.draw);
  TokenMade made{token.id,
                 identity::HashOf(token),
                 request->island(),
                 request->worker_pattern(),
                 WallSeconds() + static_cast<int64_t>(request->ttl_s()),
                 request->uses()};
  return Run(
      context,
      [made](Cluster& cluster, Instant now) {
        return cluster.ChangeJoins(
            [&made](const JoinTable& joins) { return joins.MakeToken(made); },
            now);
      },
      [this, reply, made, token](const Cluster&, Instant) {
        TokenToProto({made}, WallSeconds(), reply->mutable_token());
        reply->set_secret(identity::FormatJoinToken(token));
        reply->set_ca_pin(options_.issuer.cluster->pin());
        reply->set_address(options_.issuer.cluster->facts().address);
        return absl::OkStatus();
      });
}

grpc::ServerUnaryReactor* OperatorService::ListTokens(
    Context* context, const v1::ListTokensRequest*,
    v1::ListTokensReply* reply) {
  const absl::Status checked = RequireCluster();
  if (!checked.ok()) return AnswerNow(context, checked);
  return Show(context, [this, reply](const Cluster& cluster, Instant) {
    for (const auto& [id, token] : cluster.joins().tokens()) {
      TokenToProto(token, WallSeconds(), reply->add_tokens());
    }
    return absl::OkStatus();
  });
}

grpc::ServerUnaryReactor* OperatorService::DeleteToken(
    Context* context, const v1::DeleteTokenRequest* request,
    v1::DeleteTokenReply*) {
  return ChangeJoins(context, request->idempotency(),
                     [request](const JoinTable& joins) {
                       return joins.DeleteToken(request->id());
                     });
}

grpc::ServerUnaryReactor* OperatorService::ForgetWorker(
    Context* context, const v1::ForgetWorkerRequest* request,
    v1::ForgetWorkerReply*) {
  return ChangeJoins(context, request->idempotency(),
                     [request](const JoinTable& joins) {
                       return joins.Forget(request->worker());
                     });
}

template <typename Rule>
grpc::ServerUnaryReactor* OperatorService::ChangeJoins(
    Context* context, const v1::IdempotencyKey& idempotency, Rule rule) {
  absl::Status checked = CheckKey(idempotency);
  if (checked.ok()) checked = RequireCluster();
  if (!checked.ok()) return AnswerNow(context, checked);
  return Run(
      context,
      [rule](Cluster& cluster, Instant now) {
        return cluster.ChangeJoins(rule, now);
      },
      [](const Cluster&, Instant) { return absl::OkStatus(); });
}

void OperatorService::ApplyRevoked(const Cluster& cluster) {
  const uint64_t version = cluster.joins().revoked_version();
  if (std::exchange(revoked_version_, version) == version) return;
  transport::RevokedList list;
  for (const auto& [what, reason] : cluster.joins().revoked()) {
    list.insert(what);
  }
  options_.revocations->SetOfCluster(std::move(list));
}

template <typename Rule>
grpc::ServerUnaryReactor* OperatorService::ChangeRevoked(
    Context* context, const v1::IdempotencyKey& idempotency,
    const std::string& what, Rule rule, v1::RevocationView* view) {
  absl::Status checked = CheckKey(idempotency);
  if (checked.ok()) checked = RequireCluster();
  if (!checked.ok()) return AnswerNow(context, checked);
  const std::string& name = options_.issuer.cluster->facts().name;
  return Run(
      context,
      [rule, &name](Cluster& cluster, Instant now) {
        return cluster.ChangeJoins(
            [&](const JoinTable& joins) { return rule(joins, name); }, now);
      },
      [this, view, what, &name](const Cluster& cluster,
                                Instant) -> absl::Status {
        ApplyRevoked(cluster);
        SKERRY_ASSIGN_OR_RETURN(const std::string word,
                                cluster.joins().RevokedWordOf(what, name));
        view->set_what(word);
        const auto found = cluster.joins().revoked().find(word);
        if (found != cluster.joins().revoked().end()) {
          view->set_reason(found->second);
        }
        return absl::OkStatus();
      });
}

grpc::ServerUnaryReactor* OperatorService::RevokeCertificate(
    Context* context, const v1::RevokeCertificateRequest* request,
    v1::RevokeCertificateReply* reply) {
  return ChangeRevoked(
      context, request->idempotency(), request->what(),
      [request](const JoinTable& joins, const std::string& cluster) {
        return joins.Revoke(request->what(), request->reason(), cluster);
      },
      reply->mutable_revocation());
}

grpc::ServerUnaryReactor* OperatorService::LiftRevocation(
    Context* context, const v1::LiftRevocationRequest* request,
    v1::LiftRevocationReply* reply) {
  return ChangeRevoked(
      context, request->idempotency(), request->what(),
      [request](const JoinTable& joins, const std::string& cluster) {
        return joins.LiftRevocation(request->what(), cluster);
      },
      reply->mutable_revocation());
}

grpc::ServerUnaryReactor* OperatorService::ListRevocations(
    Context* context, const v1::ListRevocationsRequest*,
    v1::ListRevocationsReply* reply) {
  const absl::Status checked = RequireCluster();
  if (!checked.ok()) return AnswerNow(context, checked);
  return Show(context, [reply](const Cluster& cluster, Instant) {
    for (const auto& [what, reason] : cluster.joins().revoked()) {
      v1::RevocationView* one = reply->add_revocations();
      one->set_what(what);
      one->set_reason(reason);
    }
    return absl::OkStatus();
  });
}

absl::Status OperatorService::Issue(const v1::IssueOperatorRequest& request,
                                    v1::IssueOperatorReply* reply) const {
  SKERRY_RETURN_IF_ERROR(CheckKey(request.idempotency()));
  SKERRY_RETURN_IF_ERROR(RequireCluster());
  SKERRY_RETURN_IF_ERROR(identity::CheckWord("name", request.name()));
  SKERRY_ASSIGN_OR_RETURN(const identity::Role role,
                          identity::ParseRole(request.role()));
  SKERRY_RETURN_IF_ERROR(
      CheckSeconds("lifetime_s", request.lifetime_s(), kOperatorLifeMaxS));
  SKERRY_ASSIGN_OR_RETURN(
      const identity::PublicKey key,
      identity::KeyOfRequest(request.certificate_request()));
  const ClusterIdentity& cluster = *options_.issuer.cluster;
  SKERRY_ASSIGN_OR_RETURN(
      ClusterIdentity::Issued issued,
      cluster.Issue(
          {cluster.facts().name, identity::OperatorName{role, request.name()}},
          key, absl::Seconds(static_cast<int64_t>(request.lifetime_s())),
          options_.issuer.wall()));
  reply->set_chain(std::move(issued.chain));
  reply->set_authorities(cluster.authorities());
  reply->set_address(cluster.facts().address);
  runtime::Log(runtime::Severity::kInfo, "coordinator.operator.issued",
               {{"name", request.name()},
                {"role", request.role()},
                {"serial", issued.certificate.serial()}});
  return absl::OkStatus();
}

grpc::ServerUnaryReactor* OperatorService::IssueOperator(
    Context* context, const v1::IssueOperatorRequest* request,
    v1::IssueOperatorReply* reply) {
  return Show(context, [this, request, reply](const Cluster&, Instant) {
    return Issue(*request, reply);
  });
}

}  // namespace skerry::coordinator
