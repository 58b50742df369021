// worker/core/testing/recovery_fixture.h
//
// Sets up what the tests of Recovery share.
#ifndef SKERRY_WORKER_CORE_TESTING_RECOVERY_FIXTURE_H_
#define SKERRY_WORKER_CORE_TESTING_RECOVERY_FIXTURE_H_

#include <memory>
#include <string>
#include <vector>

#include "base/hash.h"
#include "gtest/gtest.h"
#include "worker/core/recovery.h"
#include "worker/core/result_piece.h"
#include "worker/core/testing/fake_ports.h"

namespace skerry::worker {

inline constexpr uint64_t kElements = 16;
inline constexpr auto kBase = PieceKey::Kind::kBase;
inline constexpr auto kResult = PieceKey::Kind::kResult;

// No trainer or peer is asked for anything here.
struct NoTrainer : TrainerPort {
  void JoinGroup(const TrainerGroup&, Done<absl::Status>) override {}
  void StartRun(const data::RangeSet&, const data::RangeSet&, uint64_t,
                Done<absl::StatusOr<RunReport>>) override {}
  void Cancel() override {}
  void Snapshot(const ElementRange&, Done<absl::Status>) override {}
  void Load(const ElementRange&, Done<absl::Status>) override {}
  void Evaluate(uint64_t, Done<absl::StatusOr<EvaluationReport>>) override {}
  void Generate(const GenerateRequest&,
                Done<absl::StatusOr<std::string>>) override {}
  bool CanSaveInner() override { return false; }
  void SaveInner(const InnerLabel&, Done<absl::Status>) override {}
  void LoadInner(uint64_t, Done<absl::StatusOr<InnerProgress>>) override {}
  TrainerMemory memory() override { return {}; }
  void Restart(const absl::Status&) override {}
};
struct NoPeers : PeerPort {
  void AgreeCut(const std::string&, const CutRequest&,
                Done<absl::StatusOr<CutReply>>) override {}
};

// Recovery over a true history of six results and two spans. Peers serve what
// the test tells them to.
class RecoveryFixture : public ::testing::Test {
 protected:
  RecoveryFixture() {
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
    pieces_.push_back(SharedBytes(
        WriteResultPiece(PieceShape::kMean, {{{id, {SharedBytes(bytes)}}}})));
    CommittedEntry entry;
    entry.sequence = Sequence(n);
    entry.attempt = Attempt(100 + n);
    const uint64_t hash = Hash64(pieces_.back().bytes());
    entry.hashes = {hash, hash};
    entry.total_weight = 10;
    entry.samples_committed = 10 * n;
    entries_.push_back(entry);
    for (auto& states : states_) {
      states.push_back(*FoldResult(settings_, states.back(), kElements, entry,
                                   hash, pieces_.back().bytes()));
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
                  Sequence(from),
                  Sequence(6),
                  {}};
    for (uint32_t span = 0; span < 2; ++span) {
      source.base_hashes.push_back(states_[span][base].hash);
      ports_.remote[{name, BaseKey(base, span)}] =
          SharedBytes(states_[span][base].values);
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
      recovery_.Pump(now_);
      now_ = now_ + absl::Seconds(1);
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

  Instant now_;
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
  Recovery recovery_{{"me", absl::Milliseconds(10), 8},
                     history_,
                     Effects{trainer_, ports_, ports_, peers_, ports_},
                     [](Instant) {}};
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_TESTING_RECOVERY_FIXTURE_H_
