#include "worker/core/history.h"

#include <vector>

#include "gtest/gtest.h"

namespace skerry::worker {
namespace {

constexpr auto kBase = PieceKey::Kind::kBase;
constexpr auto kResult = PieceKey::Kind::kResult;

CommittedEntry Entry(uint64_t sequence, uint64_t attempt,
                     std::vector<uint64_t> hashes) {
  CommittedEntry entry;
  entry.sequence = Sequence(sequence);
  entry.attempt = Attempt(attempt);
  entry.hashes = std::move(hashes);
  return entry;
}

StoredFile Result(uint64_t sequence, uint64_t attempt,
                  std::vector<StoredFile::Piece> pieces) {
  return {kResult, Sequence(sequence), Attempt(attempt), std::move(pieces)};
}

StoredFile Base(uint64_t sequence, std::vector<StoredFile::Piece> pieces) {
  return {kBase, Sequence(sequence), Attempt(), std::move(pieces)};
}

TEST(HistoryTest, StoredThroughStopsAtAForeignHashAndAtAGap) {
  History history({Result(1, 11, {{0, 5}, {1, 6}}),
                   Result(2, 12, {{0, 7}, {1, 99}}),
                   Result(4, 14, {{0, 1}, {1, 1}})});
  EXPECT_EQ(history.StoredThrough(Sequence(0), 0, 2), Sequence(0));
  history.AddCommitted({Entry(1, 11, {5, 6}), Entry(2, 12, {7, 8})});
  EXPECT_EQ(history.StoredThrough(Sequence(0), 0, 2), Sequence(1));
  EXPECT_EQ(history.StoredThrough(Sequence(0), 0, 1), Sequence(2));
  history.AddCommitted({Entry(4, 14, {1, 1})});
  EXPECT_EQ(history.StoredThrough(Sequence(0), 0, 1), Sequence(2));
}

TEST(HistoryTest, WhatTheCoordinatorHasLostIsForgotten) {
  History history({});
  history.AddCommitted(
      {Entry(1, 11, {5}), Entry(2, 12, {6}), Entry(3, 13, {7})});
  EXPECT_FALSE(history.ForgetLost({Entry(2, 12, {6})}, Sequence(3)));
  EXPECT_TRUE(history.ForgetLost({}, Sequence(2)));
  EXPECT_EQ(history.Find(Sequence(3)), nullptr);
  EXPECT_NE(history.Find(Sequence(2)), nullptr);
  // The coordinator has made 2 anew, and everything after it.
  history.AddCommitted({Entry(3, 13, {7})});
  EXPECT_TRUE(
      history.ForgetLost({Entry(1, 11, {5}), Entry(2, 22, {8})}, Sequence(3)));
  EXPECT_NE(history.Find(Sequence(1)), nullptr);
  EXPECT_EQ(history.Find(Sequence(2)), nullptr);
  EXPECT_EQ(history.Find(Sequence(3)), nullptr);
}

TEST(HistoryTest, CommitsAndBasesOfALostHistoryAreTaken) {
  StoredFile lost = Base(3, {{1, 9}});
  lost.attempt = Attempt(29);
  StoredFile kept = Base(2, {{0, 5}, {1, 6}});
  kept.attempt = Attempt(25);
  StoredFile since = Base(4, {{0, 7}, {1, 8}});
  since.attempt = Attempt(101);
  History history({lost, kept, since, Base(5, {{0, 1}})});
  history.AddCommitted(
      {Entry(2, 25, {1, 1}), Entry(3, 29, {2, 2}), Entry(4, 30, {3, 3})});
  EXPECT_EQ(history.TakeLost({}), std::vector<StoredFile>());
  EXPECT_EQ(history.TakeLost({Sequence(2), Attempt(25), Attempt(100)}),
            std::vector<StoredFile>{lost});
  EXPECT_EQ(history.NewestBase(1, Sequence())->sequence, Sequence(4));
  EXPECT_NE(history.Find(Sequence(2)), nullptr);
  EXPECT_EQ(history.Find(Sequence(3)), nullptr);
  EXPECT_EQ(history.Find(Sequence(4)), nullptr);
}

TEST(HistoryTest, ABaseIsFoundWhateverMadeIt) {
  StoredFile base = Base(3, {{0, 5}, {1, 9}});
  base.attempt = Attempt(29);
  History history({base});
  EXPECT_EQ(*history.FindPiece({kBase, Sequence(3), Attempt(), 1, 9}), base);
  EXPECT_EQ(history.Bases(0, 2),
            (std::vector<HeldBase>{{Sequence(3), 0, {5, 9}, Attempt(29)}}));
  EXPECT_EQ(history.BasesBeside(0, 1),
            (std::vector<HeldBase>{{Sequence(3), 1, {9}, Attempt(29)}}));
}

TEST(HistoryTest, PiecesOfOneResultMayLieInSeveralFiles) {
  History history({Result(1, 11, {{0, 5}}), Result(1, 11, {{1, 6}})});
  history.AddCommitted({Entry(1, 11, {5, 6})});
  EXPECT_TRUE(history.HasResult(Sequence(1), 0, 2));
}

TEST(HistoryTest, FilesThatBeginAtOneSpanStandSideBySide) {
  History history({Base(8, {{0, 5}, {1, 6}, {2, 7}})});
  history.AddFile(Base(8, {{0, 5}}));
  history.RemoveFile(Base(8, {{0, 5}}));
  EXPECT_EQ(history.Bases(0, 3),
            (std::vector<HeldBase>{{Sequence(8), 0, {5, 6, 7}}}));
  history.AddFile(Base(8, {{0, 5}}));
  EXPECT_EQ(history.TakeDeletable(Sequence(9)),
            (std::vector<StoredFile>{Base(8, {{0, 5}}),
                                     Base(8, {{0, 5}, {1, 6}, {2, 7}})}));
}

TEST(HistoryTest, BasesBesideTheHeldSpansAreTheNewestOfEach) {
  History history({Base(2, {{0, 20}, {1, 21}, {2, 22}, {3, 23}}),
                   Base(4, {{0, 40}, {1, 41}})});
  const std::vector<HeldBase> beside = history.BasesBeside(1, 2);
  ASSERT_EQ(beside.size(), 2u);
  EXPECT_EQ(beside[0], (HeldBase{Sequence(4), 0, {40}}));
  EXPECT_EQ(beside[1], (HeldBase{Sequence(2), 2, {22, 23}}));
  EXPECT_EQ(history.BasesBeside(0, 0).size(), 2u);
  EXPECT_TRUE(history.BasesBeside(0, 4).empty());
}

TEST(HistoryTest, ResultsOfOneSequenceStandSideBySideUntilTheCommit) {
  History history({Result(3, 11, {{0, 5}}), Result(3, 12, {{0, 6}})});
  EXPECT_TRUE(history.TakeDeletable(Sequence(2)).empty());
  history.AddCommitted({Entry(3, 12, {6})});
  const auto deletable = history.TakeDeletable(Sequence(2));
  ASSERT_EQ(deletable.size(), 1u);
  EXPECT_EQ(deletable[0].attempt, Attempt(11));
  EXPECT_TRUE(history.HasResult(Sequence(3), 0, 1));
}

TEST(HistoryTest, BaseAtKeepFromStaysAndWhatIsBeforeItGoes) {
  History history({Base(2, {{0, 1}}), Base(4, {{0, 2}}),
                   Result(4, 14, {{0, 3}}), Result(5, 15, {{0, 4}})});
  const auto deletable = history.TakeDeletable(Sequence(4));
  ASSERT_EQ(deletable.size(), 2u);
  EXPECT_EQ(deletable[0], Base(2, {{0, 1}}));
  EXPECT_EQ(deletable[1], Result(4, 14, {{0, 3}}));
  EXPECT_EQ(history.NewestBase(0, Sequence(0))->sequence, Sequence(4));
}

TEST(HistoryTest, OnlyWholeBasesAreListed) {
  History history({Base(2, {{0, 1}}), Base(4, {{0, 2}, {1, 3}})});
  const auto bases = history.Bases(0, 2);
  ASSERT_EQ(bases.size(), 1u);
  EXPECT_EQ(bases[0], (HeldBase{Sequence(4), 0, {2, 3}}));
  EXPECT_EQ(history.NewestBase(0, Sequence(5)), std::nullopt);
}

TEST(HistoryTest, FirstResultKeptIsTheStartOfTheLastGaplessRun) {
  History history({Result(2, 1, {{0, 1}}), Result(4, 2, {{0, 1}}),
                   Result(5, 3, {{0, 1}}), Result(6, 4, {{0, 1}})});
  history.AddCommitted(
      {Entry(2, 1, {1}), Entry(4, 2, {1}), Entry(5, 3, {1}), Entry(6, 4, {1})});
  EXPECT_EQ(history.FirstResultKept(Sequence(5), 0, 1), Sequence(4));
  EXPECT_EQ(history.FirstResultKept(Sequence(7), 0, 1), Sequence());
  EXPECT_EQ(history.FirstResultKept(Sequence(5), 0, 0), Sequence());
}

// It held one span before it held both.
TEST(HistoryTest, AResultOfSomeSpansIsNotKeptForAll) {
  History history({Result(1, 1, {{0, 1}}), Result(2, 2, {{0, 1}, {1, 5}}),
                   Result(3, 3, {{0, 1}, {1, 5}})});
  history.AddCommitted(
      {Entry(1, 1, {1, 5}), Entry(2, 2, {1, 5}), Entry(3, 3, {1, 5})});
  EXPECT_EQ(history.FirstResultKept(Sequence(3), 0, 2), Sequence(2));
  EXPECT_EQ(history.FirstResultKept(Sequence(3), 0, 1), Sequence(1));
}

}  // namespace
}  // namespace skerry::worker
