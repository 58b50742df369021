// coordinator/core/log/join_records.h
//
// Defines what the journal holds of join tokens, of the workers that they let
// in, and of certificates that are not believed any more.
#ifndef SKERRY_COORDINATOR_CORE_LOG_JOIN_RECORDS_H_
#define SKERRY_COORDINATOR_CORE_LOG_JOIN_RECORDS_H_

#include <cstdint>
#include <string>
#include <variant>

namespace skerry::coordinator {

// An operator has made a token.
struct TokenMade {
  std::string id;
  // identity::HashOf; the secret itself is written nowhere.
  std::string hash;
  // Workers that it lets in: of this island, with names that fit the pattern
  // (identity::FitsPattern), until that time, so many times.
  std::string island;
  std::string worker_pattern;
  int64_t expires_unix_s = 0;
  uint32_t uses_max = 0;
  friend bool operator==(const TokenMade&, const TokenMade&) = default;
};

// An operator has deleted a token.
struct TokenDeleted {
  std::string id;
  friend bool operator==(const TokenDeleted&, const TokenDeleted&) = default;
};

// A key gets a certificate with the worker's name for the first time. This is a
// use of the token.
struct WorkerJoined {
  std::string worker;
  std::string island;
  // identity::PublicKey::Sha256.
  std::string key;
  // Where it called from.
  std::string address;
  std::string token;
  friend bool operator==(const WorkerJoined&, const WorkerJoined&) = default;
};

// An operator has taken the name from the key that had it.
struct WorkerForgotten {
  std::string worker;
  friend bool operator==(const WorkerForgotten&,
                         const WorkerForgotten&) = default;
};

// An operator has said that nobody believes certificates of a name, or one
// certificate, any more.
struct CertificateRevoked {
  std::string what;  // as identity::RevokedWord
  // For people; may be empty.
  std::string reason;
  friend bool operator==(const CertificateRevoked&,
                         const CertificateRevoked&) = default;
};

// An operator has taken that back.
struct RevocationLifted {
  std::string what;
  friend bool operator==(const RevocationLifted&,
                         const RevocationLifted&) = default;
};

struct JoinChanged {
  std::variant<TokenMade, TokenDeleted, WorkerJoined, WorkerForgotten,
               CertificateRevoked, RevocationLifted>
      what;
  friend bool operator==(const JoinChanged&, const JoinChanged&) = default;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_LOG_JOIN_RECORDS_H_
