#include "coordinator/core/join_table.h"

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/status.h"
#include "identity/name.h"

namespace skerry::coordinator {
namespace {

constexpr size_t kTokensMax = 1000;
constexpr size_t kPatternBytesMax = 64;
constexpr uint32_t kUsesMax = 100'000;

absl::string_view Abseil(std::string_view text) {
  return {text.data(), text.size()};
}

absl::Status NoToken(std::string_view id) {
  return absl::NotFoundError(absl::StrCat("no token ", Abseil(id)));
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

JoinSnapshot JoinTable::Save() const {
  JoinSnapshot saved;
  for (const auto& [id, token] : tokens_) saved.tokens.push_back(token);
  for (const auto& [name, worker] : workers_) saved.workers.push_back(worker);
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
  return absl::OkStatus();
}

void JoinTable::HashInto(StateHasher& hasher) const {
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
