#include "worker/core/fold.h"

#include <cmath>
#include <limits>
#include <vector>

#include "base/hash.h"
#include "gtest/gtest.h"
#include "worker/core/result_piece.h"

namespace skerry::worker {
namespace {

JobSettings Settings(const char* method) {
  JobSettings settings;
  settings.outer = *optimizer::OuterPreset(method);
  settings.samples = 1000;
  return settings;
}

std::vector<std::byte> MeanPiece(const std::vector<float>& mean) {
  std::vector<std::byte> bytes;
  const auto id = compression::CodecId::kRawF32;
  EXPECT_TRUE((*compression::FindCodec(id))->Encode(mean, bytes).ok());
  return WriteResultPiece(PieceShape::kMean, {{{id, {SharedBytes(bytes)}}}});
}

CommittedEntry Entry(uint64_t sequence, uint64_t samples) {
  CommittedEntry entry;
  entry.sequence = Sequence(sequence);
  entry.total_weight = 10;
  entry.samples_committed = samples;
  return entry;
}

TEST(FoldTest, LocalSgdMovesTheAnchorByTheMean) {
  const JobSettings settings = Settings("local_sgd");
  const std::vector<float> initial = {1, 2};
  const SpanState state = InitialState(settings.outer, initial);
  const auto piece = MeanPiece({0.5f, -1.0f});
  const auto next =
      FoldResult(settings, state, 2, Entry(1, 10), Hash64(piece), piece);
  ASSERT_TRUE(next.ok());
  EXPECT_EQ(next->applied, Sequence(1));
  EXPECT_EQ(*next->values, (std::vector<float>{0.5f, 3.0f}));
  EXPECT_EQ(next->hash, Hash64Of<float>(*next->values));
  EXPECT_EQ(*state.values, initial);
}

TEST(FoldTest, AnAverageTakesThePlaceOfTheAnchor) {
  for (const char* method : {"local_sgd", "diloco", "co2", "late"}) {
    const JobSettings settings = Settings(method);
    SpanState state =
        InitialState(settings.outer, std::vector<float>{5, -6, 7});
    for (const uint64_t sequence : {1, 2}) {
      const auto piece = MeanPiece({-0.25f, 2.0f, 0.0f});
      state = *FoldResult(settings, state, 3, Entry(sequence, 500),
                          Hash64(piece), piece, SpanRule::kAverage);
      EXPECT_EQ((*state.values)[0], 0.25f) << method;
      EXPECT_EQ((*state.values)[1], -2.0f) << method;
      EXPECT_FALSE(std::signbit((*state.values)[2])) << method;
      for (size_t i = 3; i < state.values->size(); ++i) {
        EXPECT_EQ((*state.values)[i], 0.0f) << method;
      }
    }
  }
}

TEST(FoldTest, BaseHoldsMomentumAndReadsBackToTheSameState) {
  const JobSettings settings = Settings("diloco");
  SpanState state = InitialState(settings.outer, std::vector<float>{1, 2, 3});
  const auto piece = MeanPiece({0.5f, -1.0f, 2.0f});
  state = *FoldResult(settings, state, 3, Entry(1, 10), Hash64(piece), piece);
  ASSERT_EQ(state.values->size(), 6u);
  EXPECT_NE((*state.values)[3], 0.0f);
  const auto bytes = std::as_bytes(std::span(*state.values));
  const auto read = ReadBase(settings.outer, 3, Sequence(1), state.hash, bytes);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read->values, *state.values);
}

TEST(FoldTest, DamagedPiecesAreDataLoss) {
  const JobSettings settings = Settings("local_sgd");
  const SpanState state =
      InitialState(settings.outer, std::vector<float>{1, 2});
  const auto piece = MeanPiece({1, 1});
  EXPECT_TRUE(absl::IsDataLoss(
      FoldResult(settings, state, 2, Entry(1, 10), 1, piece).status()));
  const auto bytes = std::as_bytes(std::span(*state.values));
  EXPECT_TRUE(absl::IsDataLoss(
      ReadBase(settings.outer, 2, Sequence(), 1, bytes).status()));
  EXPECT_TRUE(absl::IsDataLoss(
      ReadBase(settings.outer, 3, Sequence(), state.hash, bytes).status()));
  const std::vector<float> wild = {std::numeric_limits<float>::infinity(), 0};
  EXPECT_TRUE(absl::IsDataLoss(ReadBase(settings.outer, 2, Sequence(),
                                        Hash64Of<float>(wild),
                                        std::as_bytes(std::span(wild)))
                                   .status()));
}

TEST(FoldTest, ResultsBetweenBasesAreNoLargerThanABase) {
  for (const char* method : {"local_sgd", "diloco"}) {
    for (const auto codec :
         {compression::CodecId::kRawF32, compression::CodecId::kBf16,
          compression::CodecId::kInt8Block}) {
      JobSettings settings = Settings(method);
      settings.codec = codec;
      const uint64_t interval = BaseInterval(settings);
      ASSERT_GE(interval, 1u);
      if (interval == 1) continue;
      EXPECT_LE(interval * 2 *
                    (*compression::FindCodec(codec))->MaxEncodedBytes(1 << 16),
                StateSize(settings.outer, 1 << 16) * sizeof(float));
    }
  }
}

TEST(FoldTest, LastSequenceIsAlwaysABase) {
  JobSettings settings = Settings("diloco");
  settings.codec = compression::CodecId::kInt8Block;
  ASSERT_GT(BaseInterval(settings), 1u);
  EXPECT_FALSE(IsBaseSequence(settings, Entry(1, 999)));
  EXPECT_TRUE(IsBaseSequence(settings, Entry(1, 1000)));
}

TEST(FoldTest, WhatIsToBeSavedIsABase) {
  JobSettings settings = Settings("diloco");
  settings.codec = compression::CodecId::kInt8Block;
  const uint64_t between = BaseInterval(settings) + 1;
  EXPECT_FALSE(IsBaseSequence(settings, Entry(between, 10)));
  settings.checkpoint_every = between;
  EXPECT_TRUE(IsBaseSequence(settings, Entry(between, 10)));
  EXPECT_TRUE(IsBaseSequence(settings, Entry(between - 1, 10)));
}

TEST(FoldTest, MomentumThatIsGivenIsPartOfTheStateOfAMethodThatHasIt) {
  const std::vector<float> anchor = {1, 2};
  const std::vector<float> momentum = {3, 4};
  const SpanState with =
      InitialState(Settings("diloco").outer, anchor, momentum);
  EXPECT_EQ(*with.values, (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(with.hash, Hash64Of<float>(*with.values));
  const SpanState without =
      InitialState(Settings("local_sgd").outer, anchor, momentum);
  EXPECT_EQ(*without.values, anchor);
}

}  // namespace
}  // namespace skerry::worker
