// identity/join_token.h
//
// What a new worker shows to be let in: ID.SECRET, 6 and 16 characters of a-z
// and 0-9. The id may be shown to anybody. The secret is never written to a
// log, a metric or an error, and the coordinator keeps only its hash.
#ifndef SKERRY_IDENTITY_JOIN_TOKEN_H_
#define SKERRY_IDENTITY_JOIN_TOKEN_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

namespace skerry::identity {

struct JoinToken {
  std::string id;
  std::string secret;
};

// Draws both parts; each call of `draw` returns 64 random bits that nobody can
// guess.
JoinToken DrawJoinToken(absl::FunctionRef<uint64_t()> draw);

std::string FormatJoinToken(const JoinToken& token);

// Reads a token; white space around it is skipped. Errors: InvalidArgument,
// which shows no part of the text.
absl::StatusOr<JoinToken> ParseJoinToken(std::string_view text);

// 64 hex digits: the SHA-256 of the whole token. The id makes hashes of equal
// secrets differ. 82 random bits need no slow hash.
std::string HashOf(const JoinToken& token);

// Whether `hash` is the token's. Takes the same time wherever they differ.
bool HasHash(const JoinToken& token, std::string_view hash);

// Whether `name` fits `pattern`, in which * stands for any characters, none
// included, and all else for itself.
bool FitsPattern(std::string_view name, std::string_view pattern);

}  // namespace skerry::identity

#endif  // SKERRY_IDENTITY_JOIN_TOKEN_H_
