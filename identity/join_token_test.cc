#include "identity/join_token.h"

#include <cstdint>
#include <string>

#include "base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::identity {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

JoinToken Drawn(uint64_t seed) {
  Random random(seed);
  return DrawJoinToken([&] { return random(); });
}

TEST(JoinTokenTest, IsReadAsItIsWritten) {
  const std::string text = FormatJoinToken(Drawn(1));
  EXPECT_THAT(text, MatchesRegex("[a-z0-9]{6}\\.[a-z0-9]{16}"));
  const absl::StatusOr<JoinToken> read = ParseJoinToken("  " + text + "\n");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(FormatJoinToken(*read), text);
}

TEST(JoinTokenTest, OtherTextsAreRefusedAndNotShown) {
  for (const char* other :
       {"", ".", "abcdef", "abcdef.", "abcdef.0123456789abcde",
        "abcdef.0123456789abcdef0", "abcdef.0123456789ABCDEF",
        "abcdef-0123456789abcdef", "abcde\n.0123456789abcdef"}) {
    const absl::Status refused = ParseJoinToken(other).status();
    EXPECT_TRUE(absl::IsInvalidArgument(refused)) << other;
    EXPECT_THAT(std::string(refused.message()), Not(HasSubstr("012345678")));
  }
}

TEST(JoinTokenTest, OnlyTheTokenHasItsHash) {
  const JoinToken token = Drawn(1);
  const std::string hash = HashOf(token);
  EXPECT_TRUE(HasHash(token, hash));
  EXPECT_FALSE(HasHash(Drawn(2), hash));
  EXPECT_FALSE(HasHash({token.id, Drawn(2).secret}, hash));
  EXPECT_FALSE(HasHash({Drawn(2).id, token.secret}, hash));
  EXPECT_FALSE(HasHash(token, hash.substr(1)));
  EXPECT_FALSE(HasHash(token, ""));
  EXPECT_THAT(hash, Not(HasSubstr(token.secret)));
}

TEST(JoinTokenTest, AStarFitsAnything) {
  for (const auto& [name, pattern] : {std::pair("west-1", "*"),
                                      {"west-1", "west-1"},
                                      {"west-1", "west-*"},
                                      {"west-", "west-*"},
                                      {"a-b-c", "a*-*c"},
                                      {"aab", "*ab"},
                                      {"", "*"},
                                      {"", ""}}) {
    EXPECT_TRUE(FitsPattern(name, pattern)) << name << " " << pattern;
  }
  for (const auto& [name, pattern] : {std::pair("west-1", ""),
                                      {"west-1", "west"},
                                      {"west-1", "east-*"},
                                      {"west-1", "*2"},
                                      {"west", "west-*"},
                                      {"w.st", "west"},
                                      {"west", "w.st"},
                                      {"", "a"}}) {
    EXPECT_FALSE(FitsPattern(name, pattern)) << name << " " << pattern;
  }
}

}  // namespace
}  // namespace skerry::identity
