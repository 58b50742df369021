#include "coordinator/core/join_table.h"

#include <string>
#include <variant>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

using testing::HasSubstr;
using testing::Not;

const identity::JoinToken kToken{"abcdef", "0123456789canary"};
constexpr int64_t kNow = 1'000;

TokenMade Made(uint32_t uses_max = 1) {
  return {kToken.id, identity::HashOf(kToken), "west", "w*", kNow + 60,
          uses_max};
}

JoinAttempt Attempt(const std::string& worker = "w1",
                    const std::string& key = "key1") {
  return {kToken, worker, "west", key, "10.0.0.1"};
}

void Emit(JoinTable& table, const absl::StatusOr<JoinChanged>& change) {
  ASSERT_TRUE(change.ok()) << change.status();
  ASSERT_TRUE(table.Apply(*change).ok());
}

void Join(JoinTable& table, const JoinAttempt& attempt) {
  const JoinVerdict verdict = table.Judge(attempt, kNow);
  ASSERT_TRUE(verdict.status.ok()) << verdict.status;
  ASSERT_TRUE(verdict.change.has_value());
  ASSERT_TRUE(table.Apply(*verdict.change).ok());
}

std::string WhyNot(const JoinTable& table, const JoinAttempt& attempt,
                   JoinRefusal refusal, int64_t now = kNow) {
  const JoinVerdict verdict = table.Judge(attempt, now);
  EXPECT_EQ(verdict.refusal, refusal);
  EXPECT_FALSE(verdict.status.ok());
  EXPECT_FALSE(verdict.change.has_value());
  const std::string line(verdict.status.message());
  EXPECT_THAT(line, Not(HasSubstr("canary")));
  EXPECT_THAT(line, Not(HasSubstr("\n")));
  return line;
}

TEST(JoinTableTest, ATokenLetsInWhomItIsFor) {
  JoinTable table;
  Emit(table, table.MakeToken(Made()));
  Join(table, Attempt());
  EXPECT_EQ(table.tokens().at("abcdef").uses, 1u);
  EXPECT_TRUE(table.CheckRenewal("w1", "west", "key1").ok());
}

TEST(JoinTableTest, EachRefusalSaysWhy) {
  JoinTable table;
  Emit(table, table.MakeToken(Made(2)));
  JoinAttempt other = Attempt();
  other.token.secret = "another";
  const std::string wrong = WhyNot(table, other, JoinRefusal::kUnknownToken);
  other = Attempt();
  other.token.id = "ghijkl";
  EXPECT_EQ(WhyNot(table, other, JoinRefusal::kUnknownToken), wrong);
  other = Attempt();
  other.island = "east";
  EXPECT_THAT(WhyNot(table, other, JoinRefusal::kOtherIsland),
              HasSubstr("is for island west, not east"));
  EXPECT_THAT(WhyNot(table, Attempt("x1"), JoinRefusal::kOtherName),
              HasSubstr("is for workers w*, not x1"));
  EXPECT_THAT(WhyNot(table, Attempt(), JoinRefusal::kExpired, kNow + 60),
              HasSubstr("has expired"));
  Join(table, Attempt());
  EXPECT_THAT(WhyNot(table, Attempt("w1", "key2"), JoinRefusal::kNameTaken),
              HasSubstr("from 10.0.0.1, with another key"));
  Join(table, Attempt("w2", "key2"));
  EXPECT_THAT(WhyNot(table, Attempt("w3", "key3"), JoinRefusal::kUsedUp),
              HasSubstr("is used up (2 of 2)"));
}

// The answer was lost. The second request is the same use.
TEST(JoinTableTest, TheSameKeyMayAskAgain) {
  JoinTable table;
  Emit(table, table.MakeToken(Made()));
  Join(table, Attempt());
  const JoinVerdict again = table.Judge(Attempt(), kNow + 1'000'000);
  EXPECT_TRUE(again.status.ok()) << again.status;
  EXPECT_FALSE(again.change.has_value());
  JoinAttempt forged = Attempt();
  forged.token.secret = "another";
  WhyNot(table, forged, JoinRefusal::kUnknownToken);
}

TEST(JoinTableTest, AForgottenNameIsFree) {
  JoinTable table;
  Emit(table, table.MakeToken(Made(2)));
  Join(table, Attempt());
  Emit(table, table.Forget("w1"));
  EXPECT_TRUE(
      absl::IsPermissionDenied(table.CheckRenewal("w1", "west", "key1")));
  Join(table, Attempt("w1", "key2"));
  EXPECT_TRUE(
      absl::IsPermissionDenied(table.CheckRenewal("w1", "west", "key1")));
  EXPECT_TRUE(
      absl::IsPermissionDenied(table.CheckRenewal("w1", "east", "key2")));
  EXPECT_TRUE(absl::IsNotFound(table.Forget("w9").status()));
}

TEST(JoinTableTest, ADeletedTokenIsNotKnown) {
  JoinTable table;
  Emit(table, table.MakeToken(Made()));
  EXPECT_TRUE(absl::IsAlreadyExists(table.MakeToken(Made()).status()));
  Emit(table, table.DeleteToken("abcdef"));
  WhyNot(table, Attempt(), JoinRefusal::kUnknownToken);
  EXPECT_TRUE(absl::IsNotFound(table.DeleteToken("abcdef").status()));
}

TEST(JoinTableTest, BoundsThatCannotBeAreRefused) {
  const JoinTable table;
  for (auto change : {+[](TokenMade& made) { made.island = ""; },
                      +[](TokenMade& made) { made.island = "a b"; },
                      +[](TokenMade& made) { made.worker_pattern = ""; },
                      +[](TokenMade& made) { made.uses_max = 0; },
                      +[](TokenMade& made) { made.uses_max = 1 << 30; }}) {
    TokenMade made = Made();
    change(made);
    EXPECT_TRUE(absl::IsInvalidArgument(table.MakeToken(made).status()));
  }
}

TEST(JoinTableTest, IsRestoredAsItWasSaved) {
  JoinTable table;
  Emit(table, table.MakeToken(Made(2)));
  Join(table, Attempt());
  JoinTable restored;
  ASSERT_TRUE(restored.Restore(table.Save()).ok());
  EXPECT_EQ(restored.Save(), table.Save());
  StateHasher before, after, empty;
  table.HashInto(before);
  restored.HashInto(after);
  EXPECT_EQ(before.value(), after.value());
  JoinTable().HashInto(empty);
  EXPECT_EQ(empty.value(), StateHasher().value());
  EXPECT_TRUE(absl::IsDataLoss(restored.Restore(table.Save())));
}

TEST(JoinTableTest, RecordsThatDoNotFollowAreDataLoss) {
  JoinTable table;
  EXPECT_TRUE(absl::IsDataLoss(table.Apply({TokenDeleted{"abcdef"}})));
  EXPECT_TRUE(absl::IsDataLoss(table.Apply({WorkerForgotten{"w1"}})));
  const JoinChanged joined{WorkerJoined{"w1", "west", "k", "a", "abcdef"}};
  EXPECT_TRUE(absl::IsDataLoss(table.Apply(joined)));
  ASSERT_TRUE(table.Apply({Made()}).ok());
  EXPECT_TRUE(absl::IsDataLoss(table.Apply({Made()})));
  ASSERT_TRUE(table.Apply(joined).ok());
  EXPECT_TRUE(absl::IsDataLoss(table.Apply(joined)));
}

}  // namespace
}  // namespace skerry::coordinator
