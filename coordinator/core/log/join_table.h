// coordinator/core/log/join_table.h
//
// Knows the join tokens, which key has which worker's name, and which
// certificates are revoked, and decides who is let in.
//
// The time here is the wall clock's, in seconds since 1970, because a token
// outlives the process that made it.
#ifndef SKERRY_COORDINATOR_CORE_LOG_JOIN_TABLE_H_
#define SKERRY_COORDINATOR_CORE_LOG_JOIN_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/core/log/join_records.h"
#include "coordinator/core/log/state_hash.h"
#include "identity/join_token.h"
#include "protocol/orders.h"

namespace skerry::coordinator {

struct Token {
  TokenMade made;
  uint32_t uses = 0;
  friend bool operator==(const Token&, const Token&) = default;
};

struct JoinSnapshot {
  std::vector<Token> tokens;          // by id
  std::vector<WorkerJoined> workers;  // by name
  std::vector<CertificateRevoked> revoked;
  friend bool operator==(const JoinSnapshot&, const JoinSnapshot&) = default;
};

struct JoinAttempt {
  identity::JoinToken token;
  std::string worker;
  std::string island;
  std::string key;
  std::string address;
  // What the certificate would be named.
  std::string name;
};

// Why an attempt is refused, as metrics count it.
enum class JoinRefusal {
  kBadRequest,
  kUnknownToken,
  kExpired,
  kUsedUp,
  kOtherIsland,
  kOtherName,
  kNameTaken,
  kRevoked,
  kTooMany,
};
inline constexpr size_t kJoinRefusalCount = 9;
std::string_view WordOf(JoinRefusal refusal);

struct JoinVerdict {
  // None: the worker is let in.
  std::optional<JoinRefusal> refusal;
  // One line for the worker's operator, without any secret; OK when it is let
  // in.
  absl::Status status;
  // What becomes durable before the certificate leaves. None for a worker that
  // asks again because the answer to it was lost: that is the same use.
  std::optional<JoinChanged> change;
};

// For an attempt that never comes to the table.
JoinVerdict Refused(JoinRefusal refusal, absl::Status status);

class JoinTable {
 public:
  // --- Fold. Errors: DataLoss.
  absl::Status Apply(const JoinChanged& record);
  JoinSnapshot Save() const;
  // Into an empty table. Errors: DataLoss when anything is there twice.
  absl::Status Restore(const JoinSnapshot& saved);
  // Adds nothing when there is nothing, as before there was this table.
  void HashInto(StateHasher& hasher) const;

  // --- Rules: what to emit.
  //
  // Errors: InvalidArgument for bounds that cannot be; AlreadyExists for an id
  // that is in use (draw another); ResourceExhausted.
  absl::StatusOr<JoinChanged> MakeToken(TokenMade made) const;
  // Errors: NotFound.
  absl::StatusOr<JoinChanged> DeleteToken(std::string_view id) const;
  // Errors: NotFound.
  absl::StatusOr<JoinChanged> Forget(std::string_view worker) const;
  // Revokes certificates of the cluster of that name; `what` is as an operator
  // names them (v1::RevokeCertificateRequest). Nothing changes when they are
  // revoked already.
  //
  // Errors: InvalidArgument for what is no certificate of the cluster; NotFound
  // for a worker that has not joined; ResourceExhausted.
  absl::StatusOr<std::optional<JoinChanged>> Revoke(
      std::string_view what, std::string_view reason,
      std::string_view cluster) const;
  // Errors: as Revoke; NotFound for what is not revoked.
  absl::StatusOr<JoinChanged> LiftRevocation(std::string_view what,
                                             std::string_view cluster) const;
  // What stands in the list for `what`. Errors: InvalidArgument and NotFound as
  // of Revoke.
  absl::StatusOr<std::string> RevokedWordOf(std::string_view what,
                                            std::string_view cluster) const;
  JoinVerdict Judge(const JoinAttempt& attempt, int64_t unix_s) const;
  // Whether the key may have another certificate with that name. Errors:
  // PermissionDenied.
  absl::Status CheckRenewal(std::string_view worker, std::string_view island,
                            std::string_view key) const;

  const absl::btree_map<std::string, Token>& tokens() const { return tokens_; }
  // The reason by what is revoked.
  const absl::btree_map<std::string, std::string>& revoked() const {
    return revoked_;
  }
  // The list for a worker that was told the version `told`; none when that is
  // the version of the list.
  std::optional<protocol::RevokedCertificates> RevokedAfter(
      uint64_t told) const;
  // protocol::RevokedCertificates::version of the list.
  uint64_t revoked_version() const { return revoked_version_; }

 private:
  absl::Status Fold(const TokenMade& record);
  absl::Status Fold(const TokenDeleted& record);
  absl::Status Fold(const WorkerJoined& record);
  absl::Status Fold(const WorkerForgotten& record);
  absl::Status Fold(const CertificateRevoked& record);
  absl::Status Fold(const RevocationLifted& record);
  void CountVersion();
  absl::btree_map<std::string, Token> tokens_;
  absl::btree_map<std::string, WorkerJoined> workers_;
  absl::btree_map<std::string, std::string> revoked_;
  uint64_t revoked_version_ = 0;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_LOG_JOIN_TABLE_H_
