#include "coordinator/core/rules/attempt_rules.h"

#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

using Kind = AttemptVerdict::Kind;
constexpr std::nullopt_t kNo = std::nullopt;

MemberReport Member(uint64_t replica,
                    std::vector<std::optional<uint64_t>> hashes) {
  MemberReport member;
  member.replica = ReplicaId(replica);
  member.current = true;
  member.hashes = std::move(hashes);
  return member;
}

TEST(AttemptRulesTest, CommitsAtOnceWhenEveryCurrentMemberHasReported) {
  const auto verdict =
      JudgeAttempt({Member(1, {7, 8}), Member(2, {7, 8})}, 2, false);
  EXPECT_EQ(verdict.kind, Kind::kCommit);
  EXPECT_EQ(verdict.hashes, (std::vector<uint64_t>{7, 8}));
}

TEST(AttemptRulesTest, EveryGroupHasToBeReported) {
  EXPECT_EQ(JudgeAttempt({Member(1, {7, kNo})}, 2, false).kind, Kind::kWait);
  EXPECT_EQ(JudgeAttempt({Member(1, {7, kNo})}, 2, true).kind, Kind::kExpired);
}

TEST(AttemptRulesTest, AMajorityCommitsOnlyAfterTheDeadline) {
  const std::vector<MemberReport> two_of_three = {
      Member(1, {7}), Member(2, {7}), Member(3, {kNo})};
  EXPECT_EQ(JudgeAttempt(two_of_three, 1, false).kind, Kind::kWait);
  EXPECT_EQ(JudgeAttempt(two_of_three, 1, true).kind, Kind::kCommit);
}

TEST(AttemptRulesTest, HalfIsNoMajority) {
  EXPECT_EQ(JudgeAttempt({Member(1, {7}), Member(2, {kNo})}, 1, true).kind,
            Kind::kExpired);
}

TEST(AttemptRulesTest, NothingCommitsBySilence) {
  MemberReport ended = Member(1, {7});
  ended.current = false;
  EXPECT_EQ(JudgeAttempt({ended}, 1, false).kind, Kind::kWait);
  EXPECT_EQ(JudgeAttempt({ended}, 1, true).kind, Kind::kExpired);
}

TEST(AttemptRulesTest, EndedMembersAreNotWaitedFor) {
  MemberReport ended = Member(2, {kNo});
  ended.current = false;
  EXPECT_EQ(JudgeAttempt({Member(1, {7}), ended}, 1, false).kind,
            Kind::kCommit);
}

TEST(AttemptRulesTest, NothingCommitsWhileTwoHashesStand) {
  const std::vector<MemberReport> members = {Member(1, {7}), Member(2, {8}),
                                             Member(3, {kNo})};
  EXPECT_EQ(JudgeAttempt(members, 1, false).kind, Kind::kWait);
  const auto verdict = JudgeAttempt(members, 1, true);
  EXPECT_EQ(verdict.kind, Kind::kDisagree);
  EXPECT_TRUE(verdict.sets[0].contains(ReplicaId(1)));
}

TEST(AttemptRulesTest, TheLargestSetComesFirst) {
  const auto verdict =
      JudgeAttempt({Member(1, {7}), Member(2, {8}), Member(3, {8})}, 1, false);
  ASSERT_EQ(verdict.kind, Kind::kDisagree);
  EXPECT_EQ(verdict.sets[0].size(), 2u);
  EXPECT_TRUE(verdict.sets[1].contains(ReplicaId(1)));
}

TEST(AttemptRulesTest, EndedLivesAreBlamedBeforeSilentOnes) {
  MemberReport ended = Member(1, {kNo});
  ended.current = false;
  MemberReport silent = Member(2, {kNo});
  silent.suspected = true;
  EXPECT_EQ(ChooseBlame({ended, silent}).replicas,
            absl::btree_set<ReplicaId>{ReplicaId(1)});
  EXPECT_EQ(ChooseBlame({silent, Member(3, {kNo})}).replicas,
            absl::btree_set<ReplicaId>{ReplicaId(2)});
}

TEST(AttemptRulesTest, TheSenderThatMostMissIsBlamedNext) {
  MemberReport first = Member(1, {kNo});
  first.received = {{{ReplicaId(2), 10, 10}, {ReplicaId(3), 1, 10}}};
  MemberReport second = Member(2, {kNo});
  second.received = {{{ReplicaId(1), 10, 10}, {ReplicaId(3), 1, 10}}};
  MemberReport third = Member(3, {kNo});
  third.received = {{{ReplicaId(1), 10, 10}, {ReplicaId(2), 10, 10}}};
  EXPECT_EQ(ChooseBlame({first, second, third}).replicas,
            absl::btree_set<ReplicaId>{ReplicaId(3)});
}

TEST(AttemptRulesTest, OfEqualProgressTheLowestNumberIsBlamedLast) {
  EXPECT_EQ(ChooseBlame({Member(1, {kNo}), Member(2, {kNo})}).replicas,
            absl::btree_set<ReplicaId>{ReplicaId(2)});
}

TEST(AttemptRulesTest, ALostMemberWhoseBytesAreThereIsNotNeeded) {
  MemberReport lost = Member(1, {kNo});
  lost.current = false;
  MemberReport other = Member(2, {kNo});
  EXPECT_FALSE(IsNoLongerNeeded({lost, other}, ReplicaId(1)));
  other.received = {{{ReplicaId(1), 9, 10}}};
  EXPECT_FALSE(IsNoLongerNeeded({lost, other}, ReplicaId(1)));
  other.received = {{{ReplicaId(1), 10, 10}}};
  EXPECT_TRUE(IsNoLongerNeeded({lost, other}, ReplicaId(1)));
}

}  // namespace
}  // namespace skerry::coordinator
