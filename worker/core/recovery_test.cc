#include "worker/core/recovery.h"

#include <memory>
#include <vector>

#include "base/hash.h"
#include "gtest/gtest.h"
#include "worker/core/result_piece.h"
#include "worker/core/testing/fake_ports.h"

namespace skerry::worker {
namespace {

constexpr uint64_t kElements = 16;
constexpr auto kBase = PieceKey::Kind::kBase;
constexpr auto kResult = PieceKey::Kind::kResult;

// No trainer or peer is asked for anything here.
struct NoTrainer : TrainerPort {
  void JoinGroup(const TrainerGroup&, Done<absl::Status>) override {}
  void StartRun(const data::RangeSet&, uint64_t,
                Done<absl::StatusOr<RunReport>>) override {}
  void Cancel() override {}
  void Snapshot(const ElementRange&, Done<absl::Status>) override {}
  void Load(const ElementRange&, Done<absl::Status>) override {}
  void Evaluate(uint64_t, Done<absl::StatusOr<EvaluationReport>>) override {}
  void Generate(const GenerateRequest&,
                Done<absl::StatusOr<std::string>>) override {}
  TrainerMemory memory() override { return {}; }
  void Restart(const std::string&) override {}
};
struct NoPeers : PeerPort {
  void AgreeCut(const std::string&, const CutRequest&,
                Done<absl::StatusOr<CutReply>>) override {}
};

class RecoveryTest : public ::testing::Test {
 protected:
  RecoveryTest() {
    settings_.outer = *optimizer::OuterPreset("local_sgd");
    settings_.codec = compression::CodecId::kRawF32;
    settings_.samples = 1000;
    recovery_.Configure(settings_, layout_);
    initial_ = std::make_shared<std::vector<float>>(2 * kElements, 10.0f);
    for (uint32_t span = 0; span < 2; ++span) {
      states_.push_back({InitialState(settings_.outer,
                                      std::span(*initial_).first(kElements))});
    }
    for (uint64_t n = 1; n <= 6; ++n) Commit(n);
    history_.AddCommitted(entries_);
  }

  // Adds sequence n to the true history.
  void Commit(uint64_t n) {
    std::vector<std::byte> bytes;
    const auto id = compression::CodecId::kRawF32;
    const std::vector<float> mean(kElements, static_cast<float>(n));
    EXPECT_TRUE((*compression::FindCodec(id))->Encode(mean, bytes).ok());
    pieces_.push_back(
        SharedBytes::Of(WriteResultPiece(PieceShape::kMean, {{{id, bytes}}})));
    CommittedEntry entry;
    entry.sequence = Sequence(n);
    entry.attempt = Attempt(100 + n);
    const uint64_t hash = Hash64(pieces_.back().bytes);
    entry.hashes = {hash, hash};
    entry.total_weight = 10;
    entry.samples_committed = 10 * n;
    entries_.push_back(entry);
    for (auto& states : states_) {
      states.push_back(*FoldResult(settings_, states.back(), kElements, entry,
                                   hash, pieces_.back().bytes));
    }
  }

  PieceKey BaseKey(uint64_t n, uint32_t span) const {
    return {kBase, Sequence(n), Attempt(), span, states_[span][n].hash};
  }
  PieceKey ResultKey(uint64_t n, uint32_t span) const {
    return {kResult, Sequence(n), Attempt(100 + n), span,
            entries_[n - 1].hashes[span]};
  }
  // `name` serves base `base` and the results from `from` through 6.
  Source Serve(const std::string& name, uint64_t base, uint64_t from) {
    Source source{{0, 2, {name, name, name}},
                  Sequence(base),
                  {},
                  Sequence(from),
                  Sequence(6)};
    for (uint32_t span = 0; span < 2; ++span) {
      source.base_hashes.push_back(states_[span][base].hash);
      ports_.remote[{name, BaseKey(base, span)}] =
          SharedBytes::Of(states_[span][base].values);
      for (uint64_t n = from; n <= 6; ++n) {
        ports_.remote[{name, ResultKey(n, span)}] = pieces_[n - 1];
      }
    }
    return source;
  }
  void PutOnDisk(const PieceKey& key, const SharedBytes& bytes) {
    const StoredFile file{
        key.kind, key.sequence, key.attempt, {{key.span, key.hash}}};
    ports_.files.push_back({file, {bytes}});
    history_.AddFile(file);
  }
  void Recover(uint64_t target) {
    recovery_.SetTarget(Sequence(target));
    for (int i = 0; i < 40; ++i) {
      recovery_.Pump(Instant(absl::Seconds(i)));
      ports_.Run();
    }
  }
  void ExpectAt(uint64_t n) {
    ASSERT_TRUE(recovery_.ready());
    EXPECT_EQ(recovery_.applied(), Sequence(n));
    for (uint32_t span = recovery_.begin(); span < recovery_.end(); ++span) {
      EXPECT_EQ(recovery_.StateOf(span)->hash, states_[span][n].hash);
    }
  }

  JobSettings settings_;
  const Layout layout_{{{0, kElements}, {kElements, 2 * kElements}}};
  std::shared_ptr<std::vector<float>> initial_;
  std::vector<CommittedEntry> entries_;
  std::vector<SharedBytes> pieces_;
  std::vector<std::vector<SpanState>> states_;  // by span and sequence
  FakePorts ports_;
  NoTrainer trainer_;
  NoPeers peers_;
  History history_{{}};
  Recovery recovery_{
      {"me", absl::Milliseconds(10), 8},
      history_,
      Effects{trainer_, ports_, ports_, peers_, ports_},
      [](Instant, absl::Status status) { EXPECT_TRUE(status.ok()); }};
};

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
  EXPECT_EQ(history_.FirstResultKept(Sequence(6)), Sequence(1));
}

TEST_F(RecoveryTest, FoldsNoFurtherThanTheTarget) {
  recovery_.SetView({Serve("a", 2, 3)}, Sequence(1));
  recovery_.SetHoldings(0, 2);
  Recover(4);
  ExpectAt(4);
  EXPECT_EQ(recovery_.stored_through(), Sequence(6));
}

TEST_F(RecoveryTest, OwnDiskIsUsedWhereItsHashesFitAndThePeersElsewhere) {
  PutOnDisk(BaseKey(3, 0), SharedBytes::Of(states_[0][3].values));
  PieceKey rotten = BaseKey(3, 1);
  PutOnDisk(rotten, SharedBytes::Of(states_[1][2].values));
  PutOnDisk(ResultKey(4, 0), pieces_[3]);
  PutOnDisk(ResultKey(4, 1), pieces_[2]);  // not what its hash says
  recovery_.SetView({Serve("a", 3, 3), Serve("b", 3, 3)}, Sequence(2));
  recovery_.SetHoldings(0, 2);
  Recover(6);
  ExpectAt(6);
  EXPECT_EQ(ports_.deleted.size(), 2u);
  for (const auto& [address, key] : ports_.fetched) {
    EXPECT_FALSE(key.kind == kBase && key.span == 0);
  }
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
  for (const auto& [address, key] : ports_.fetched) {
    EXPECT_FALSE(key.kind == kBase && key.span == 0);
  }
}

TEST_F(RecoveryTest, StateOlderThanWhatAnyoneKeepsIsGivenUp) {
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
TEST_F(RecoveryTest, StateBehindAGapIsGivenUpForANewerBase) {
  for (uint32_t span = 0; span < 2; ++span) {
    PutOnDisk(BaseKey(1, span), SharedBytes::Of(states_[span][1].values));
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
TEST_F(RecoveryTest, SpanAheadOfAGapKeepsItsState) {
  PutOnDisk(BaseKey(1, 0), SharedBytes::Of(states_[0][1].values));
  PutOnDisk(BaseKey(4, 1), SharedBytes::Of(states_[1][4].values));
  recovery_.SetView({Serve("a", 4, 5)}, Sequence(1));
  recovery_.SetReplaceable(true);
  recovery_.SetHoldings(0, 2);
  Recover(6);
  ExpectAt(6);
  for (const auto& [address, key] : ports_.fetched) {
    EXPECT_FALSE(key.kind == kBase && key.span == 1);
    EXPECT_GT(key.sequence, Sequence(key.kind == kBase ? 3 : 4));
  }
}

TEST_F(RecoveryTest, ResultsAreFetchedOnlyForTheSpansThatNeedThem) {
  PutOnDisk(BaseKey(2, 0), SharedBytes::Of(states_[0][2].values));
  PutOnDisk(BaseKey(4, 1), SharedBytes::Of(states_[1][4].values));
  recovery_.SetView({Serve("a", 2, 3)}, Sequence(2));
  recovery_.SetHoldings(0, 2);
  Recover(6);
  ExpectAt(6);
  for (const auto& [address, key] : ports_.fetched) {
    EXPECT_FALSE(key.span == 1 && key.sequence < Sequence(5));
  }
}

TEST_F(RecoveryTest, LifeIsToldOfAResultThatNobodyKeeps) {
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

TEST_F(RecoveryTest, HeldAttemptIsNotFetchedBeforeItsTime) {
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

TEST_F(RecoveryTest, PinHoldsTheBaseAndTheResultsThatAreNotFolded) {
  recovery_.SetView({Serve("a", 2, 3)}, Sequence(1));
  recovery_.SetHoldings(0, 2);
  recovery_.Pump(Instant());
  EXPECT_EQ(recovery_.pin(), Sequence(2));
  Recover(6);
  ExpectAt(6);
  EXPECT_EQ(recovery_.pin(), Sequence(6));
}

}  // namespace
}  // namespace skerry::worker
