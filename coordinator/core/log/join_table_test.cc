#include "coordinator/core/log/join_table.h"

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
  return {kToken, worker,     "west",
          key,    "10.0.0.1", "spiffe://lab/island/west/worker/" + worker};
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

void EmitIf(JoinTable& table,
            const absl::StatusOr<std::optional<JoinChanged>>& change) {
  ASSERT_TRUE(change.ok()) << change.status();
  if (!change->has_value()) return;
  ASSERT_TRUE(table.Apply(**change).ok());
}

class RevocationTest : public testing::Test {
 protected:
  RevocationTest() {
    Emit(table_, table_.MakeToken(Made(2)));
    Join(table_, Attempt());
  }
  std::string Word(const char* what) {
    const auto word = table_.RevokedWordOf(what, "lab");
    return word.ok() ? *word : word.status().ToString();
  }
  JoinTable table_;
};

TEST_F(RevocationTest, ACertificateIsNamedInSeveralWays) {
  const char* const w1 = "spiffe://lab/island/west/worker/w1";
  EXPECT_EQ(Word("worker/w1"), w1);
  EXPECT_EQ(Word("island/west/worker/w1"), w1);
  EXPECT_EQ(Word(w1), w1);
  EXPECT_EQ(Word("operator/admin/ann"), "spiffe://lab/operator/admin/ann");
  EXPECT_EQ(Word("0a1b"), "A1B");
}

TEST_F(RevocationTest, WhatCannotBeRevokedIsRefusedInOneLine) {
  EXPECT_THAT(Word("worker/w2"), HasSubstr("no worker \"w2\" has joined"));
  EXPECT_THAT(Word("w1"), HasSubstr("\"w1\" is none of worker/NAME"));
  EXPECT_THAT(Word("operator/king/ann"), HasSubstr("is none of"));
  EXPECT_THAT(Word("spiffe://other/operator/admin/ann"),
              HasSubstr("is not of this cluster, lab"));
  EXPECT_THAT(Word("coordinator"), HasSubstr("cannot be on it"));
  EXPECT_TRUE(
      absl::IsNotFound(table_.LiftRevocation("worker/w1", "lab").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(
      table_.Revoke("A1", std::string(201, 'a'), "lab").status()));
}

TEST_F(RevocationTest, WorkersAreToldOfAListByItsVersion) {
  EXPECT_EQ(table_.revoked_version(), 0u);
  EmitIf(table_, table_.Revoke("worker/w1", "stolen", "lab"));
  const uint64_t one = table_.revoked_version();
  EXPECT_NE(one, 0u);
  EXPECT_THAT(table_.RevokedAfter(0)->what,
              testing::ElementsAre("spiffe://lab/island/west/worker/w1"));
  EXPECT_FALSE(table_.RevokedAfter(one).has_value());
  // Nothing changes the second time.
  EXPECT_FALSE(table_.Revoke("worker/w1", "again", "lab")->has_value());
  EmitIf(table_, table_.Revoke("A1", "", "lab"));
  EXPECT_NE(table_.revoked_version(), one);
  JoinTable again;
  ASSERT_TRUE(again.Restore(table_.Save()).ok());
  EXPECT_EQ(again.revoked_version(), table_.revoked_version());
  EXPECT_EQ(again.revoked(), table_.revoked());
  Emit(table_, table_.LiftRevocation("A1", "lab"));
  EXPECT_EQ(table_.revoked_version(), one);
  Emit(table_, table_.LiftRevocation("worker/w1", "lab"));
  EXPECT_EQ(table_.revoked_version(), 0u);
}

// Its certificate would be refused at every call.
TEST_F(RevocationTest, ANameThatIsRevokedIsNotLetIn) {
  EmitIf(table_, table_.Revoke("island/west/worker/w2", "", "lab"));
  EXPECT_THAT(WhyNot(table_, Attempt("w2", "key2"), JoinRefusal::kRevoked),
              HasSubstr("are revoked"));
  Emit(table_, table_.LiftRevocation("island/west/worker/w2", "lab"));
  Join(table_, Attempt("w2", "key2"));
}

}  // namespace
}  // namespace skerry::coordinator
