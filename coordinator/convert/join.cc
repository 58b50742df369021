#include "coordinator/convert/join.h"

#include <variant>

#include "coordinator/convert/fields.h"

namespace skerry::coordinator {
namespace {

void ToProto(const TokenMade& made, v1::TokenMade* out) {
  out->set_id(made.id);
  out->set_hash(made.hash);
  out->set_island(made.island);
  out->set_worker_pattern(made.worker_pattern);
  out->set_expires_unix_s(made.expires_unix_s);
  out->set_uses_max(made.uses_max);
}

TokenMade FromProto(const v1::TokenMade& p) {
  return {
      p.id(),      p.hash(), p.island(), p.worker_pattern(), p.expires_unix_s(),
      p.uses_max()};
}

void ToProto(const WorkerJoined& joined, v1::WorkerJoined* out) {
  out->set_worker(joined.worker);
  out->set_island(joined.island);
  out->set_key(joined.key);
  out->set_address(joined.address);
  out->set_token(joined.token);
}

WorkerJoined FromProto(const v1::WorkerJoined& p) {
  return {p.worker(), p.island(), p.key(), p.address(), p.token()};
}

void ToProto(const CertificateRevoked& revoked, v1::CertificateRevoked* out) {
  out->set_what(revoked.what);
  out->set_reason(revoked.reason);
}

CertificateRevoked FromProto(const v1::CertificateRevoked& p) {
  return {p.what(), p.reason()};
}

}  // namespace

v1::JoinChanged JoinToProto(const JoinChanged& changed) {
  v1::JoinChanged out;
  if (const auto* made = std::get_if<TokenMade>(&changed.what)) {
    ToProto(*made, out.mutable_token_made());
  } else if (const auto* gone = std::get_if<TokenDeleted>(&changed.what)) {
    out.mutable_token_deleted()->set_id(gone->id);
  } else if (const auto* joined = std::get_if<WorkerJoined>(&changed.what)) {
    ToProto(*joined, out.mutable_worker_joined());
  } else if (const auto* gone = std::get_if<WorkerForgotten>(&changed.what)) {
    out.mutable_worker_forgotten()->set_worker(gone->worker);
  } else if (const auto* one = std::get_if<CertificateRevoked>(&changed.what)) {
    ToProto(*one, out.mutable_certificate_revoked());
  } else {
    out.mutable_revocation_lifted()->set_what(
        std::get<RevocationLifted>(changed.what).what);
  }
  return out;
}

absl::StatusOr<JoinChanged> JoinFromProto(const v1::JoinChanged& p) {
  switch (p.what_case()) {
    case v1::JoinChanged::kTokenMade:
      return JoinChanged{FromProto(p.token_made())};
    case v1::JoinChanged::kTokenDeleted:
      return JoinChanged{TokenDeleted{p.token_deleted().id()}};
    case v1::JoinChanged::kWorkerJoined:
      return JoinChanged{FromProto(p.worker_joined())};
    case v1::JoinChanged::kWorkerForgotten:
      return JoinChanged{WorkerForgotten{p.worker_forgotten().worker()}};
    case v1::JoinChanged::kCertificateRevoked:
      return JoinChanged{FromProto(p.certificate_revoked())};
    case v1::JoinChanged::kRevocationLifted:
      return JoinChanged{RevocationLifted{p.revocation_lifted().what()}};
    case v1::JoinChanged::WHAT_NOT_SET:
      break;
  }
  return BadField("join_changed", "is unknown; a newer release wrote it");
}

void JoinsToProto(const JoinSnapshot& joins, v1::JournalSnapshot* out) {
  for (const Token& token : joins.tokens) {
    v1::JournalSnapshot::Token* one = out->add_tokens();
    ToProto(token.made, one->mutable_made());
    one->set_uses(token.uses);
  }
  for (const WorkerJoined& worker : joins.workers) {
    ToProto(worker, out->add_joined());
  }
  for (const CertificateRevoked& one : joins.revoked) {
    ToProto(one, out->add_revoked());
  }
}

JoinSnapshot JoinsFromProto(const v1::JournalSnapshot& snapshot) {
  JoinSnapshot out;
  for (const v1::JournalSnapshot::Token& one : snapshot.tokens()) {
    out.tokens.push_back({FromProto(one.made()), one.uses()});
  }
  for (const v1::WorkerJoined& one : snapshot.joined()) {
    out.workers.push_back(FromProto(one));
  }
  for (const v1::CertificateRevoked& one : snapshot.revoked()) {
    out.revoked.push_back(FromProto(one));
  }
  return out;
}

}  // namespace skerry::coordinator
