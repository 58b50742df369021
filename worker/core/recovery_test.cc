#include "worker/core/recovery.h"

#include "gtest/gtest.h"
#include "worker/core/testing/recovery_fixture.h"

namespace skerry::worker {
namespace {

class RecoveryTest : public RecoveryFixture {};

TEST_F(RecoveryTest, FoldsFromTheInitialValues) {
  recovery_.SetView({Serve("a", 0, 1)}, Sequence(0));
  recovery_.SetInitialAtHand(true);
  recovery_.SetHoldings(0, 2);
  recovery_.Pump(Instant());
  ASSERT_TRUE(recovery_.WantsInitial());
  recovery_.OnInitial(Instant(), {initial_, *initial_});
  EXPECT_FALSE(recovery_.WantsInitial());
  Recover(6);
  ExpectAt(6);
  EXPECT_EQ(recovery_.samples_committed(), 60u);
  // Base 0 can be served from now on, and so can every result.
  EXPECT_EQ(history_.Bases(0, 2).front().sequence, Sequence(0));
  EXPECT_EQ(history_.FirstResultKept(Sequence(6), 0, 2), Sequence(1));
}

TEST_F(RecoveryTest, FoldsNoFurtherThanTheTarget) {
  recovery_.SetView({Serve("a", 2, 3)}, Sequence(1));
  recovery_.SetHoldings(0, 2);
  Recover(4);
  ExpectAt(4);
  EXPECT_EQ(recovery_.stored_through(), Sequence(6));
}

TEST_F(RecoveryTest, OwnDiskIsUsedWhereItsHashesFitAndThePeersElsewhere) {
  PutOnDisk(BaseKey(3, 0), SharedBytes(states_[0][3].values));
  PieceKey rotten = BaseKey(3, 1);
  PutOnDisk(rotten, SharedBytes(states_[1][2].values));
  PutOnDisk(ResultKey(4, 0), pieces_[3]);
  PutOnDisk(ResultKey(4, 1), pieces_[2]);  // not what its hash says
  recovery_.SetView({Serve("a", 3, 3), Serve("b", 3, 3)}, Sequence(2));
  recovery_.SetHoldings(0, 2);
  Recover(6);
  ExpectAt(6);
  EXPECT_EQ(ports_.deleted.size(), 2u);
  for (const auto& [worker, key] : ports_.fetched) {
    EXPECT_FALSE(key.kind == kBase && key.span == 0);
  }
}

TEST_F(RecoveryTest, WhatHasRottedIsGivenUpWhenItIsAskedFor) {
  PutOnDisk(BaseKey(3, 0), SharedBytes(states_[0][3].values));
  PutOnDisk(BaseKey(3, 1), SharedBytes(states_[1][2].values));
  PutOnDisk(ResultKey(4, 0), pieces_[2]);
  for (const PieceKey& key : {BaseKey(3, 0), BaseKey(3, 1), ResultKey(4, 0)}) {
    EXPECT_TRUE(recovery_.Read(key).ok());  // the other side looks at the hash
  }
  ports_.Run();
  EXPECT_NE(history_.FindPiece(BaseKey(3, 0)), nullptr);
  EXPECT_EQ(history_.FindPiece(BaseKey(3, 1)), nullptr);
  EXPECT_EQ(history_.FindPiece(ResultKey(4, 0)), nullptr);
  EXPECT_EQ(ports_.deleted.size(), 2u);
}

TEST_F(RecoveryTest, WhatHasRottedIsStoredAgainWhereItIsInMemory) {
  recovery_.SetView({Serve("a", 2, 3)}, Sequence(1));
  recovery_.SetHoldings(0, 2);
  Recover(4);
  recovery_.StoreBase();
  ports_.Run();
  const StoredFile file = *history_.FindPiece(BaseKey(4, 1));
  std::erase_if(ports_.files,
                [&](const auto& one) { return one.first == file; });
  EXPECT_FALSE(recovery_.Read(BaseKey(4, 1)).ok());
  ports_.Run();
  EXPECT_TRUE(recovery_.Read(BaseKey(4, 1)).ok());
}

// Whoever lacks the result, which nobody else may have, goes on from that base.
TEST_F(RecoveryTest, ForAResultThatHasRottedThereIsANewerBase) {
  recovery_.SetView({Serve("a", 2, 3)}, Sequence(1));
  recovery_.SetHoldings(0, 2);
  Recover(5);
  // Every state is a base here; with other codecs few are.
  for (const uint64_t n : {3, 4, 5}) {
    history_.RemoveFile(StoredFile(*history_.FindPiece(BaseKey(n, 0))));
  }
  const StoredFile file = *history_.FindPiece(ResultKey(6, 1));
  std::erase_if(ports_.files,
                [&](const auto& one) { return one.first == file; });
  EXPECT_FALSE(recovery_.Read(ResultKey(6, 1)).ok());
  ports_.Run();
  // It is folded first.
  EXPECT_EQ(history_.Bases(0, 2).back().sequence, Sequence(2));
  Recover(6);
  ExpectAt(6);
  history_.RemoveFile(StoredFile(*history_.FindPiece(BaseKey(6, 0))));
  const StoredFile folded = *history_.FindPiece(ResultKey(4, 0));
  std::erase_if(ports_.files,
                [&](const auto& one) { return one.first == folded; });
  EXPECT_FALSE(recovery_.Read(ResultKey(4, 0)).ok());
  ports_.Run();
  EXPECT_EQ(history_.Bases(0, 2).back().sequence, Sequence(6));
}

TEST_F(RecoveryTest, WhatIsNotOnTheDiskAnyMoreIsGivenUpWhenItIsAskedFor) {
  PutOnDisk(BaseKey(3, 0), SharedBytes(states_[0][3].values));
  ports_.files.clear();
  EXPECT_TRUE(absl::IsNotFound(recovery_.Read(BaseKey(3, 0)).status()));
  EXPECT_EQ(history_.FindPiece(BaseKey(3, 0)), nullptr);
}

// A part of a base, of which nobody is told. The job has made its sequence
// anew.
TEST_F(RecoveryTest, ABaseOfALostHistoryIsNoBeginning) {
  const SharedBytes other(states_[1][2].values);
  const StoredFile lost{
      kBase, Sequence(5), Attempt(90), {{1, Hash64(other.bytes())}}};
  ports_.files.push_back({lost, {other}});
  history_.AddFile(lost);
  recovery_.SetView({Serve("a", 3, 4)}, Sequence(3));
  recovery_.Keep({Sequence(3), Attempt(103), Attempt(104)});
  recovery_.SetHoldings(0, 2);
  Recover(6);
  ExpectAt(6);
  EXPECT_EQ(recovery_.applied_attempt(), Attempt(106));
}

TEST_F(RecoveryTest, AStateOfALostHistoryIsGivenUp) {
  recovery_.SetView({Serve("a", 3, 4)}, Sequence(3));
  recovery_.SetHoldings(0, 2);
  Recover(5);
  ExpectAt(5);
  recovery_.StoreBase();
  ports_.Run();
  // A life uses it; the coordinator ends that first.
  recovery_.Keep({Sequence(3), Attempt(103), Attempt(200)});
  Recover(6);
  ExpectAt(5);
  recovery_.SetReplaceable(true);
  Recover(6);
  ExpectAt(3);
  EXPECT_EQ(history_.NewestBase(0, Sequence(4)), std::nullopt);
}

TEST_F(RecoveryTest, CommitsThatTheCoordinatorHasLostAreNotFollowed) {
  recovery_.SetView({Serve("a", 3, 4)}, Sequence(3));
  recovery_.SetHoldings(0, 2);
  Recover(4);
  ExpectAt(4);
  recovery_.ForgetLost({}, Sequence(4));
  Recover(6);
  ExpectAt(4);
  history_.AddCommitted(entries_);
  Recover(6);
  ExpectAt(6);
}

TEST_F(RecoveryTest, ABaseKeepsTheAttemptThatMadeIt) {
  Source source = Serve("a", 3, 4);
  source.base_attempt = Attempt(103);
  recovery_.SetView({source}, Sequence(3));
  recovery_.SetHoldings(0, 2);
  Recover(3);
  EXPECT_EQ(recovery_.applied_attempt(), Attempt(103));
  EXPECT_EQ(history_.Bases(0, 2).back().attempt, Attempt(103));
  // It is read from the disk after another process has begun.
  History history({history_.FindPiece(BaseKey(3, 0))[0],
                   history_.FindPiece(BaseKey(3, 1))[0]});
  Recovery again({"me", absl::Milliseconds(10), 8}, history,
                 Effects{trainer_, ports_, ports_, peers_, ports_},
                 [](Instant) {});
  again.Configure(settings_, layout_);
  again.SetHoldings(0, 2);
  again.Pump(now_);
  ports_.Run();
  EXPECT_EQ(again.applied_attempt(), Attempt(103));
}

TEST_F(RecoveryTest, SourceThatFailsIsFollowedByTheNext) {
  Source empty = Serve("a", 3, 3);
  ports_.remote.clear();
  recovery_.SetView({empty, Serve("b", 3, 3)}, Sequence(3));
  recovery_.SetHoldings(0, 2);
  Recover(6);
  ExpectAt(6);
}

TEST_F(RecoveryTest, HoldingsThatMoveKeepWhatIsStillHeld) {
  recovery_.SetView({Serve("a", 2, 3)}, Sequence(2));
  recovery_.SetHoldings(0, 1);
  Recover(6);
  ports_.fetched.clear();
  recovery_.SetHoldings(0, 2);
  Recover(6);
  ExpectAt(6);
  for (const auto& [worker, key] : ports_.fetched) {
    EXPECT_FALSE(key.kind == kBase && key.span == 0);
  }
}

TEST_F(RecoveryTest, PinHoldsTheBaseAndTheResultsThatAreNotFolded) {
  recovery_.SetView({Serve("a", 2, 3)}, Sequence(1));
  recovery_.SetHoldings(0, 2);
  recovery_.Pump(Instant());
  EXPECT_EQ(recovery_.pin(), Sequence(2));
  Recover(6);
  ExpectAt(6);
  EXPECT_EQ(recovery_.pin(), Sequence(6));
}

// State 0 is whatever base 0 on disk says.
TEST_F(RecoveryTest, AnImportedBaseIsFoldedFromLikeAnyOther) {
  settings_.from_checkpoint = true;
  settings_.samples_before = 40;
  recovery_.Configure(settings_, layout_);
  recovery_.SetView({Serve("a", 0, 1)}, Sequence(0));
  recovery_.SetHoldings(0, 2);
  for (uint32_t span = 0; span < 2; ++span) {
    PutOnDisk(BaseKey(0, span), SharedBytes(states_[span][0].values));
  }
  Recover(0);
  EXPECT_EQ(recovery_.samples_committed(), 40u);
  Recover(6);
  ExpectAt(6);
  EXPECT_FALSE(recovery_.WantsInitial());
  for (const auto& [worker, key] : ports_.fetched) {
    EXPECT_EQ(key.kind, kResult);
  }
}

// The job went back to its beginning as state 2: what is folded next comes
// after it, and older bases are of a history that is none any more.
TEST_F(RecoveryTest, TheBeginningMayHaveALaterNumber) {
  recovery_.Configure(settings_, layout_, Sequence(2));
  recovery_.SetView({}, Sequence(2));
  recovery_.SetHoldings(0, 2);
  recovery_.Pump(Instant());
  ASSERT_TRUE(recovery_.WantsInitial());
  recovery_.OnInitial(Instant(), {initial_, *initial_});
  ports_.Run();
  ASSERT_TRUE(recovery_.ready());
  EXPECT_EQ(recovery_.applied(), Sequence(2));
  EXPECT_EQ(recovery_.samples_committed(), settings_.samples_before);
  EXPECT_EQ(recovery_.StateOf(0)->hash, states_[0][0].hash);
  EXPECT_NE(history_.FindPiece(
                {kBase, Sequence(2), Attempt(), 0, states_[0][0].hash}),
            nullptr);
}

}  // namespace
}  // namespace skerry::worker
