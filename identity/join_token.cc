#include "identity/join_token.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/sha256.h"

namespace skerry::identity {
namespace {

constexpr size_t kIdBytes = 6;
constexpr size_t kSecretBytes = 16;
constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz0123456789";

std::string Draw(size_t count, absl::FunctionRef<uint64_t()> draw) {
  // Numbers above the largest multiple are drawn again, so that each character
  // is equally likely.
  constexpr uint64_t kLimit =
      ~uint64_t{0} / kAlphabet.size() * kAlphabet.size();
  std::string text;
  while (text.size() < count) {
    const uint64_t number = draw();
    if (number < kLimit) text += kAlphabet[number % kAlphabet.size()];
  }
  return text;
}

bool InAlphabet(std::string_view text) {
  return text.find_first_not_of(kAlphabet) == std::string_view::npos;
}

}  // namespace

JoinToken DrawJoinToken(absl::FunctionRef<uint64_t()> draw) {
  JoinToken token;
  token.id = Draw(kIdBytes, draw);
  token.secret = Draw(kSecretBytes, draw);
  return token;
}

std::string FormatJoinToken(const JoinToken& token) {
  return absl::StrCat(token.id, ".", token.secret);
}

absl::StatusOr<JoinToken> ParseJoinToken(std::string_view text) {
  const absl::string_view stripped =
      absl::StripAsciiWhitespace(absl::string_view(text.data(), text.size()));
  const std::string_view bare(stripped.data(), stripped.size());
  if (bare.size() != kIdBytes + 1 + kSecretBytes || bare[kIdBytes] != '.' ||
      !InAlphabet(bare.substr(0, kIdBytes)) ||
      !InAlphabet(bare.substr(kIdBytes + 1))) {
    return absl::InvalidArgumentError(
        "a join token is ID.SECRET, 6 and 16 characters of a-z and 0-9; make "
        "one with: skerryctl token create");
  }
  return JoinToken{std::string(bare.substr(0, kIdBytes)),
                   std::string(bare.substr(kIdBytes + 1))};
}

std::string HashOf(const JoinToken& token) {
  const std::string text = FormatJoinToken(token);
  return Sha256Hex(std::as_bytes(std::span(text)));
}

bool HasHash(const JoinToken& token, std::string_view hash) {
  const std::string own = HashOf(token);
  if (own.size() != hash.size()) return false;
  unsigned char difference = 0;
  for (size_t i = 0; i < own.size(); ++i) {
    difference |= static_cast<unsigned char>(own[i] ^ hash[i]);
  }
  return difference == 0;
}

bool FitsPattern(std::string_view name, std::string_view pattern) {
  // `star` and `resume`: where to go on when the last * has to take one
  // character more.
  size_t n = 0, p = 0;
  size_t star = std::string_view::npos, resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

}  // namespace skerry::identity
