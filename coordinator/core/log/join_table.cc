#include "coordinator/core/log/join_table.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/bounded_number.h"
#include "base/status.h"
#include "identity/name.h"
#include "identity/revoked_word.h"

namespace skerry::coordinator {
namespace {

constexpr size_t kTokensMax = 1000;
constexpr size_t kPatternBytesMax = 64;
constexpr uint32_t kUsesMax = 100'000;
constexpr size_t kRevokedMax = 10'000;
constexpr size_t kReasonBytesMax = 200;
constexpr std::string_view kScheme = "spiffe://";
constexpr std::string_view kWorkerPrefix = "worker/";

absl::string_view Abseil(std::string_view text) {
  return {text.data(), text.size()};
}

absl::Status NoToken(std::string_view id) {
  return absl::NotFoundError(absl::StrCat(
      "no token ", Abseil(id), "; skerryctl token list shows those there are"));
}

JoinVerdict NameIsRevoked(const JoinAttempt& attempt) {
  return Refused(
      JoinRefusal::kRevoked,
      absl::PermissionDeniedError(absl::StrCat(
          "certificates of worker ", attempt.worker, " of island ",
          attempt.island,
          " are revoked; give this one another --name, or lift that with: "
          "skerryctl revocation lift island/",
          attempt.island, "/worker/", attempt.worker)));
}

}  // namespace

std::string_view WordOf(JoinRefusal refusal) {
  switch (refusal) {
    case JoinRefusal::kBadRequest:
      return "bad_request";
    case JoinRefusal::kUnknownToken:
      return "unknown_token";
    case JoinRefusal::kExpired:
      return "expired";
    case JoinRefusal::kUsedUp:
      return "used_up";
    case JoinRefusal::kOtherIsland:
      return "other_island";
    case JoinRefusal::kOtherName:
      return "other_name";
    case JoinRefusal::kNameTaken:
      return "name_taken";
    case JoinRefusal::kRevoked:
      return "revoked";
    case JoinRefusal::kTooMany:
      return "too_many";
  }
  return "";
}

JoinVerdict Refused(JoinRefusal refusal, absl::Status status) {
  return {.refusal = refusal, .status = std::move(status), .change = {}};
}

absl::Status JoinTable::Apply(const JoinChanged& record) {
  return std::visit([this](const auto& what) { return Fold(what); },
                    record.what);
}

absl::Status JoinTable::Fold(const TokenMade& record) {
  if (!tokens_.try_emplace(record.id, Token{record}).second) {
    return absl::DataLossError("a token is made twice");
  }
  return absl::OkStatus();
}

absl::Status JoinTable::Fold(const TokenDeleted& record) {
  if (tokens_.erase(record.id) == 0) {
    return absl::DataLossError("a token is deleted that is not there");
  }
  return absl::OkStatus();
}

absl::Status JoinTable::Fold(const WorkerJoined& record) {
  const auto token = tokens_.find(record.token);
  if (token == tokens_.end() ||
      token->second.uses >= token->second.made.uses_max ||
      !workers_.try_emplace(record.worker, record).second) {
    return absl::DataLossError("a worker joins that may not");
  }
  ++token->second.uses;
  return absl::OkStatus();
}

absl::Status JoinTable::Fold(const WorkerForgotten& record) {
  if (workers_.erase(record.worker) == 0) {
    return absl::DataLossError("a worker is forgotten that has not joined");
  }
  return absl::OkStatus();
}

absl::Status JoinTable::Fold(const CertificateRevoked& record) {
  if (!revoked_.try_emplace(record.what, record.reason).second) {
    return absl::DataLossError("a certificate is revoked twice");
  }
  CountVersion();
  return absl::OkStatus();
}

absl::Status JoinTable::Fold(const RevocationLifted& record) {
  if (revoked_.erase(record.what) == 0) {
    return absl::DataLossError("a revocation is lifted that is not there");
  }
  CountVersion();
  return absl::OkStatus();
}

void JoinTable::CountVersion() {
  StateHasher hasher;
  for (const auto& [what, reason] : revoked_) {
    hasher.Add(std::string_view(what));
  }
  revoked_version_ =
      revoked_.empty() ? 0 : std::max<uint64_t>(hasher.value(), 1);
}

JoinSnapshot JoinTable::Save() const {
  JoinSnapshot saved;
  for (const auto& [id, token] : tokens_) saved.tokens.push_back(token);
  for (const auto& [name, worker] : workers_) saved.workers.push_back(worker);
  for (const auto& [what, reason] : revoked_) {
    saved.revoked.push_back({what, reason});
  }
  return saved;
}

absl::Status JoinTable::Restore(const JoinSnapshot& saved) {
  for (const Token& token : saved.tokens) {
    if (!tokens_.try_emplace(token.made.id, token).second) {
      return absl::DataLossError("a token is there twice");
    }
  }
  for (const WorkerJoined& worker : saved.workers) {
    if (!workers_.try_emplace(worker.worker, worker).second) {
      return absl::DataLossError("a worker has joined twice");
    }
  }
  for (const CertificateRevoked& one : saved.revoked) {
    SKERRY_RETURN_IF_ERROR(Fold(one));
  }
  return absl::OkStatus();
}

void JoinTable::HashInto(StateHasher& hasher) const {
  if (!revoked_.empty()) {
    hasher.Add(uint64_t{revoked_.size()});
    for (const auto& [what, reason] : revoked_) {
      hasher.Add(std::string_view(what));
      hasher.Add(std::string_view(reason));
    }
  }
  if (tokens_.empty() && workers_.empty()) return;
  hasher.Add(uint64_t{tokens_.size()});
  for (const auto& [id, token] : tokens_) {
    hasher.Add(std::string_view(id));
    hasher.Add(std::string_view(token.made.hash));
    hasher.Add(std::string_view(token.made.island));
    hasher.Add(std::string_view(token.made.worker_pattern));
    hasher.Add(static_cast<uint64_t>(token.made.expires_unix_s));
    hasher.Add(uint64_t{token.made.uses_max});
    hasher.Add(uint64_t{token.uses});
  }
  hasher.Add(uint64_t{workers_.size()});
  for (const auto& [name, worker] : workers_) {
    hasher.Add(std::string_view(name));
    hasher.Add(std::string_view(worker.island));
    hasher.Add(std::string_view(worker.key));
    hasher.Add(std::string_view(worker.address));
    hasher.Add(std::string_view(worker.token));
  }
}

absl::StatusOr<JoinChanged> JoinTable::MakeToken(TokenMade made) const {
  SKERRY_RETURN_IF_ERROR(identity::CheckWord("island", made.island));
  if (made.worker_pattern.empty() ||
      made.worker_pattern.size() > kPatternBytesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("worker: a pattern has 1 to ", kPatternBytesMax,
                     " characters, like west-*"));
  }
  if (made.uses_max == 0 || made.uses_max > kUsesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("uses: has to be 1 to ", kUsesMax));
  }
  if (tokens_.size() >= kTokensMax) {
    return absl::ResourceExhaustedError(
        absl::StrCat("there are ", kTokensMax,
                     " tokens; delete some with: skerryctl token delete"));
  }
  if (tokens_.contains(made.id)) {
    return absl::AlreadyExistsError("the token's id is in use");
  }
  return JoinChanged{std::move(made)};
}

absl::StatusOr<JoinChanged> JoinTable::DeleteToken(std::string_view id) const {
  const std::string name(id);
  if (!tokens_.contains(name)) return NoToken(id);
  return JoinChanged{TokenDeleted{name}};
}

absl::StatusOr<JoinChanged> JoinTable::Forget(std::string_view worker) const {
  const std::string name(worker);
  if (!workers_.contains(name)) {
    return absl::NotFoundError(
        absl::StrCat("no worker ", name, " has joined with a token"));
  }
  return JoinChanged{WorkerForgotten{name}};
}

absl::StatusOr<std::string> JoinTable::RevokedWordOf(
    std::string_view what, std::string_view cluster) const {
  std::string full(what);
  if (absl::StartsWith(full, Abseil(kWorkerPrefix))) {
    const std::string worker = full.substr(kWorkerPrefix.size());
    const auto found = workers_.find(worker);
    if (found == workers_.end()) {
      return absl::NotFoundError(
          absl::StrCat("no worker ", QuotedForMessage(worker),
                       " has joined with a token; name its island as well: "
                       "island/ISLAND/worker/NAME"));
    }
    full = absl::StrCat("island/", found->second.island, "/", full);
  }
  const std::string in_cluster =
      absl::StrCat(Abseil(kScheme), Abseil(cluster), "/", full);
  absl::StatusOr<std::string> word = identity::RevokedWord(
      identity::ParseName(in_cluster).ok() ? in_cluster : full);
  if (!word.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "what: ", QuotedForMessage(what),
        " is none of worker/NAME, island/ISLAND/worker/NAME, "
        "operator/ROLE/NAME and a serial number in hexadecimal digits"));
  }
  const absl::StatusOr<identity::Name> name = identity::ParseName(*word);
  if (!name.ok()) return word;
  if (name->cluster != cluster) {
    return absl::InvalidArgumentError(absl::StrCat(
        "what: ", *word, " is not of this cluster, ", Abseil(cluster)));
  }
  if (std::holds_alternative<identity::CoordinatorName>(name->who)) {
    return absl::InvalidArgumentError(
        "what: the coordinator keeps the list of what is revoked, and cannot "
        "be on it");
  }
  return word;
}

absl::StatusOr<std::optional<JoinChanged>> JoinTable::Revoke(
    std::string_view what, std::string_view reason,
    std::string_view cluster) const {
  if (reason.size() > kReasonBytesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("reason: has at most ", kReasonBytesMax, " bytes"));
  }
  SKERRY_ASSIGN_OR_RETURN(std::string word, RevokedWordOf(what, cluster));
  if (revoked_.contains(word)) return std::nullopt;
  if (revoked_.size() >= kRevokedMax) {
    return absl::ResourceExhaustedError(absl::StrCat(
        kRevokedMax,
        " certificates are revoked; lift those that have expired with: "
        "skerryctl revocation lift"));
  }
  return JoinChanged{CertificateRevoked{std::move(word), std::string(reason)}};
}

absl::StatusOr<JoinChanged> JoinTable::LiftRevocation(
    std::string_view what, std::string_view cluster) const {
  SKERRY_ASSIGN_OR_RETURN(std::string word, RevokedWordOf(what, cluster));
  if (!revoked_.contains(word)) {
    return absl::NotFoundError(absl::StrCat(word, " is not revoked"));
  }
  return JoinChanged{RevocationLifted{std::move(word)}};
}

std::optional<protocol::RevokedCertificates> JoinTable::RevokedAfter(
    uint64_t told) const {
  if (told == revoked_version_) return std::nullopt;
  protocol::RevokedCertificates all{revoked_version_, {}};
  for (const auto& [what, reason] : revoked_) all.what.push_back(what);
  return all;
}

JoinVerdict JoinTable::Judge(const JoinAttempt& attempt, int64_t unix_s) const {
  const auto found = tokens_.find(attempt.token.id);
  // An id that is not there takes as long as a wrong secret, and both get the
  // same answer.
  const bool genuine = identity::HasHash(
      attempt.token,
      found == tokens_.end() ? identity::HashOf({}) : found->second.made.hash);
  if (found == tokens_.end() || !genuine) {
    return Refused(JoinRefusal::kUnknownToken,
                   absl::PermissionDeniedError(
                       "the join token is not known; make one with: skerryctl "
                       "token create"));
  }
  const Token& token = found->second;
  if (revoked_.contains(attempt.name)) return NameIsRevoked(attempt);
  const auto named = workers_.find(attempt.worker);
  if (named != workers_.end() && named->second.key == attempt.key &&
      named->second.island == attempt.island &&
      named->second.token == attempt.token.id) {
    return {};
  }
  const auto refuse = [&](JoinRefusal refusal, const std::string& why) {
    return Refused(refusal,
                   absl::PermissionDeniedError(absl::StrCat(
                       "the join token ", attempt.token.id, " ", why)));
  };
  if (unix_s >= token.made.expires_unix_s) {
    return refuse(JoinRefusal::kExpired,
                  "has expired; make another with: skerryctl token create");
  }
  if (token.uses >= token.made.uses_max) {
    return refuse(
        JoinRefusal::kUsedUp,
        absl::StrCat("is used up (", token.uses, " of ", token.made.uses_max,
                     "); make another with: skerryctl token create"));
  }
  if (attempt.island != token.made.island) {
    return refuse(JoinRefusal::kOtherIsland,
                  absl::StrCat("is for island ", token.made.island, ", not ",
                               attempt.island));
  }
  if (!identity::FitsPattern(attempt.worker, token.made.worker_pattern)) {
    return refuse(JoinRefusal::kOtherName,
                  absl::StrCat("is for workers ", token.made.worker_pattern,
                               ", not ", attempt.worker));
  }
  if (named != workers_.end()) {
    return Refused(
        JoinRefusal::kNameTaken,
        absl::AlreadyExistsError(absl::StrCat(
            "worker ", attempt.worker, " has joined already, from ",
            named->second.address,
            ", with another key; give this one another --name, or free the "
            "name with: skerryctl forget worker ",
            attempt.worker)));
  }
  return {.refusal = {},
          .status = absl::OkStatus(),
          .change = JoinChanged{WorkerJoined{attempt.worker, attempt.island,
                                             attempt.key, attempt.address,
                                             attempt.token.id}}};
}

absl::Status JoinTable::CheckRenewal(std::string_view worker,
                                     std::string_view island,
                                     std::string_view key) const {
  const auto named = workers_.find(std::string(worker));
  if (named != workers_.end() && named->second.island == island &&
      named->second.key == key) {
    return absl::OkStatus();
  }
  return absl::PermissionDeniedError(absl::StrCat(
      "worker ", Abseil(worker),
      " has to join anew, because its name was freed or belongs to another "
      "key; give it a new token"));
}

}  // namespace skerry::coordinator
