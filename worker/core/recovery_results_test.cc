#include "gtest/gtest.h"
#include "worker/core/recovery.h"
#include "worker/core/testing/recovery_fixture.h"

namespace skerry::worker {
namespace {

class RecoveryResultsTest : public RecoveryFixture {};

TEST_F(RecoveryResultsTest, StateOlderThanWhatAnyoneKeepsIsGivenUp) {
  recovery_.SetView({Serve("a", 1, 2)}, Sequence(1));
  recovery_.SetHoldings(0, 2);
  Recover(1);
  ExpectAt(1);
  ports_.remote.clear();
  ports_.files.clear();
  history_.TakeDeletable(Sequence(9));
  recovery_.SetView({Serve("b", 5, 6)}, Sequence(5));
  recovery_.SetReplaceable(true);
  Recover(6);
  ExpectAt(6);
}

// It kept nothing for this worker while it was away, and keep_from follows the
// pin of the state that cannot go on.
TEST_F(RecoveryResultsTest, StateBehindAGapIsGivenUpForANewerBase) {
  for (uint32_t span = 0; span < 2; ++span) {
    PutOnDisk(BaseKey(1, span), SharedBytes(states_[span][1].values));
  }
  Source joiner = Serve("b", 1, 4);
  joiner.results_from = joiner.results_through = Sequence();
  recovery_.SetView({Serve("a", 4, 4), joiner}, Sequence(1));
  recovery_.SetHoldings(0, 2);
  Recover(6);
  ExpectAt(1);
  recovery_.SetReplaceable(true);
  Recover(6);
  ExpectAt(6);
}

// What is missing to the span behind is nothing to the span ahead.
TEST_F(RecoveryResultsTest, SpanAheadOfAGapKeepsItsState) {
  PutOnDisk(BaseKey(1, 0), SharedBytes(states_[0][1].values));
  PutOnDisk(BaseKey(4, 1), SharedBytes(states_[1][4].values));
  recovery_.SetView({Serve("a", 4, 5)}, Sequence(1));
  recovery_.SetReplaceable(true);
  recovery_.SetHoldings(0, 2);
  Recover(6);
  ExpectAt(6);
  for (const auto& [worker, key] : ports_.fetched) {
    EXPECT_FALSE(key.kind == kBase && key.span == 1);
    EXPECT_GT(key.sequence, Sequence(key.kind == kBase ? 3 : 4));
  }
}

TEST_F(RecoveryResultsTest, AnOfferThatIsNotTrueIsGivenUpForANewerBase) {
  PutOnDisk(BaseKey(4, 0), SharedBytes(states_[0][4].values));
  PutOnDisk(BaseKey(4, 1), SharedBytes(states_[1][4].values));
  const Source liar = Serve("a", 4, 5);
  ports_.remote.clear();
  recovery_.SetView({liar, Serve("b", 6, 7)}, Sequence(4));
  recovery_.SetReplaceable(true);
  recovery_.SetHoldings(0, 2);
  Recover(6);
  ExpectAt(6);
}

// It may be the newest that is left of all.
TEST_F(RecoveryResultsTest, StateBehindALostResultIsMadeABase) {
  PutOnDisk(BaseKey(4, 0), SharedBytes(states_[0][4].values));
  PutOnDisk(BaseKey(4, 1), SharedBytes(states_[1][4].values));
  PutOnDisk(ResultKey(5, 0), pieces_[4]);
  PutOnDisk(ResultKey(5, 1), pieces_[4]);
  recovery_.SetView({}, Sequence(4));
  recovery_.SetHoldings(0, 2);
  Recover(6);
  ExpectAt(5);
  // Every state is a base here; with other codecs few are.
  const StoredFile base = *history_.FindPiece(BaseKey(5, 0));
  history_.RemoveFile(base);
  Recover(6);
  EXPECT_EQ(history_.FindPiece(BaseKey(5, 0)), nullptr);  // as in a life
  recovery_.SetReplaceable(true);
  Recover(6);
  ExpectAt(5);
  EXPECT_NE(history_.FindPiece(BaseKey(5, 0)), nullptr);
  EXPECT_NE(history_.FindPiece(BaseKey(5, 1)), nullptr);
}

// Spans have moved between the workers of an island: who has the results holds
// other spans now, and is no source for them.
TEST_F(RecoveryResultsTest, NeighboursAreAskedForWhatNobodyOffers) {
  PutOnDisk(BaseKey(4, 0), SharedBytes(states_[0][4].values));
  PutOnDisk(BaseKey(4, 1), SharedBytes(states_[1][4].values));
  for (uint64_t n = 5; n <= 6; ++n) {
    ports_.remote[{"b", ResultKey(n, 0)}] = pieces_[n - 1];
    ports_.remote[{"b", ResultKey(n, 1)}] = pieces_[n - 1];
  }
  recovery_.SetView({}, Sequence(4));
  recovery_.SetHoldings(0, 2);
  Recover(6);
  ExpectAt(4);
  recovery_.SetNeighbours(
      {{0, 1, {"me", "me", "me"}}, {1, 2, {"b", "b", "b"}}});
  Recover(6);
  ExpectAt(6);
  for (const auto& [worker, key] : ports_.fetched) EXPECT_EQ(worker, "b");
}

TEST_F(RecoveryResultsTest, ResultsAreFetchedOnlyForTheSpansThatNeedThem) {
  PutOnDisk(BaseKey(2, 0), SharedBytes(states_[0][2].values));
  PutOnDisk(BaseKey(4, 1), SharedBytes(states_[1][4].values));
  recovery_.SetView({Serve("a", 2, 3)}, Sequence(2));
  recovery_.SetHoldings(0, 2);
  Recover(6);
  ExpectAt(6);
  for (const auto& [worker, key] : ports_.fetched) {
    EXPECT_FALSE(key.span == 1 && key.sequence < Sequence(5));
  }
}

// Span 0 has no state when result 3 is stored for span 1, and needs the same
// result when its newer base comes, before the disk is done.
TEST_F(RecoveryResultsTest, ResultStoredForSomeSpansIsFetchedForTheOthers) {
  PutOnDisk(BaseKey(1, 0), SharedBytes(states_[0][1].values));
  PutOnDisk(BaseKey(2, 1), SharedBytes(states_[1][2].values));
  recovery_.SetView({Serve("a", 2, 3)}, Sequence(1));
  recovery_.SetReplaceable(true);
  recovery_.SetHoldings(0, 2);
  ports_.SetDiskSlow(true);
  Recover(6);
  EXPECT_EQ(recovery_.applied(), Sequence(2));
  ports_.SetDiskSlow(false);
  Recover(6);
  ExpectAt(6);
}

TEST_F(RecoveryResultsTest, LifeIsToldOfAResultThatNobodyKeeps) {
  recovery_.SetView({Serve("a", 1, 2)}, Sequence(1));
  recovery_.SetHoldings(0, 2);
  Recover(1);
  ExpectAt(1);
  ports_.remote.clear();
  ports_.files.clear();
  history_.TakeDeletable(Sequence(9));
  recovery_.Pump(Instant(absl::Seconds(50)));
  ports_.Run();
  EXPECT_EQ(recovery_.gap(), std::nullopt);
  recovery_.SetView({Serve("b", 5, 6)}, Sequence(5));
  recovery_.Pump(Instant(absl::Seconds(51)));
  EXPECT_EQ(recovery_.gap(), Sequence(2));
}

// Its own old base leaves the lives without a common one, so keep_from is 0;
// and in a life no hashes of bases are offered.
TEST_F(RecoveryResultsTest, LifeIsToldOfAGapByTheNewerBasesOfOthers) {
  for (uint32_t span = 0; span < 2; ++span) {
    PutOnDisk(BaseKey(1, span), SharedBytes(states_[span][1].values));
  }
  Source ahead = Serve("a", 3, 4);
  ahead.base_hashes.clear();
  recovery_.SetView({ahead}, Sequence());
  recovery_.SetHoldings(0, 2);
  Recover(6);
  ExpectAt(1);
  EXPECT_EQ(recovery_.gap(), Sequence(2));
  // What has just been committed may still arrive.
  ahead.base = Sequence(1);
  recovery_.SetView({ahead}, Sequence());
  recovery_.Pump(Instant(absl::Seconds(51)));
  EXPECT_EQ(recovery_.gap(), std::nullopt);
}

// It had come for one span and not for the other, when that other began again
// from a newer base.
TEST_F(RecoveryResultsTest, ResultIsStoredOnceNobodyElseNeedsWhatIsMissing) {
  for (uint32_t span = 0; span < 2; ++span) {
    PutOnDisk(BaseKey(1, span), SharedBytes(states_[span][1].values));
  }
  const Source source = Serve("a", 1, 2);
  ports_.remote.erase({"a", ResultKey(2, 0)});
  recovery_.SetView({source}, Sequence(1));
  recovery_.SetReplaceable(true);
  recovery_.SetHoldings(0, 2);
  Recover(6);
  ExpectAt(1);
  ports_.remote.clear();
  recovery_.SetView({Serve("b", 4, 5)}, Sequence(4));
  Recover(6);
  ExpectAt(6);
}

// Its peers of the attempt have deleted the result while its disk failed. That
// they were peers is no offer any more once they have said so.
TEST_F(RecoveryResultsTest, LifeIsToldOfAGapThatItsPeersHaveToo) {
  for (uint32_t span = 0; span < 2; ++span) {
    PutOnDisk(BaseKey(1, span), SharedBytes(states_[span][1].values));
  }
  Source ahead = Serve("a", 3, 4);
  ahead.base_hashes.clear();
  recovery_.SetView({ahead}, Sequence());
  recovery_.SetPeers(Attempt(102), {{0, 2, {"a", "a", "a"}}});
  recovery_.SetHoldings(0, 2);
  Recover(6);
  ExpectAt(1);
  EXPECT_EQ(recovery_.gap(), Sequence(2));
}

TEST_F(RecoveryResultsTest, HeldAttemptIsNotFetchedBeforeItsTime) {
  recovery_.SetView({Serve("a", 5, 6)}, Sequence(5));
  recovery_.SetHoldings(0, 2);
  recovery_.Hold(Attempt(106), Instant(absl::Seconds(100)));
  Recover(6);
  ExpectAt(5);
  EXPECT_EQ(recovery_.NextDeadline(), Instant(absl::Seconds(100)));
  recovery_.Hold(Attempt(), Instant());
  Recover(6);
  ExpectAt(6);
}

}  // namespace
}  // namespace skerry::worker
