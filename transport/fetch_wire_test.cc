#include "transport/fetch_wire.h"

#include <gtest/gtest.h>

#include "base/hash.h"
#include "transport/testing/frames.h"

namespace skerry::transport {
namespace {

constexpr uint64_t kMax = uint64_t{1} << 30;

PieceKey KeyFor(const SharedBytes& object) {
  return {.kind = PieceKey::Kind::kResult,
          .sequence = Sequence(4),
          .attempt = Attempt(5),
          .span = 3,
          .hash = Hash64(object.bytes()),
          .fragment = 2,
          .job = JobId(1)};
}

TEST(FetchKeyTest, WhatIsEncodedIsDecodedAndNothingElseIs) {
  const PieceKey key = KeyFor(RandomPayload(1, 10));
  const auto good = EncodeFetchKey(key);
  EXPECT_EQ(DecodeFetchKey(good).value(), key);
  const auto with = [&good](size_t at, int value) {
    auto bytes = good;
    bytes[at] = std::byte(value);
    return DecodeFetchKey(bytes).status().code();
  };
  EXPECT_EQ(with(40, 0), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(with(40, 4), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(with(47, 1), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(with(39, 1), absl::StatusCode::kInvalidArgument);  // span
  EXPECT_FALSE(DecodeFetchKey(std::span(good).first(47)).ok());
}

TEST(FetchKeyTest, AKeyOfDataHasNoSpanAndNoFragment) {
  PieceKey key{.kind = PieceKey::Kind::kData,
               .hash = 99,
               .job = JobId(1),
               .file = 7,
               .offset_bytes = uint64_t{5} << 40};
  EXPECT_EQ(DecodeFetchKey(EncodeFetchKey(key)).value(), key);
  key.span = 1;
  EXPECT_FALSE(DecodeFetchKey(EncodeFetchKey(key)).ok());
  key.span = 0;
  key.fragment = 1;
  EXPECT_FALSE(DecodeFetchKey(EncodeFetchKey(key)).ok());
}

TEST(FetchAssemblerTest, AChunkOfDataNeedsNoHashAndIsBounded) {
  const PieceKey key{
      .kind = PieceKey::Kind::kData, .hash = 99, .job = JobId(1)};
  const auto carry = [&](size_t bytes) -> absl::StatusOr<SharedBytes> {
    const SharedBytes object = RandomPayload(3, bytes);
    FetchAssembler assembler(key, kMax);
    for (uint32_t i = 0; i < FetchPieceCount(bytes); ++i) {
      const absl::Status added = assembler.Add(FetchPiece(key, object, i));
      if (!added.ok()) return added;
    }
    return assembler.Finish();
  };
  EXPECT_EQ(carry(0)->size(), 0u);
  EXPECT_EQ(carry(kDataChunkBytes)->size(), kDataChunkBytes);
  EXPECT_TRUE(absl::IsResourceExhausted(carry(kDataChunkBytes + 1).status()));
}

TEST(FetchAssemblerTest, PiecesOfAnySizeOfObjectMakeTheObject) {
  const size_t piece = compression::kFramePayloadBytesMax;
  for (const size_t size :
       {size_t{0}, size_t{1}, piece, piece + 1, 3 * piece}) {
    const SharedBytes object = RandomPayload(size, size);
    const PieceKey key = KeyFor(object);
    FetchAssembler assembler(key, kMax);
    for (uint32_t i = 0; i < FetchPieceCount(size); ++i) {
      const Frame frame = FetchPiece(key, object, i);
      ASSERT_TRUE(
          compression::CheckPayload(frame.header, frame.payload.bytes()).ok());
      ASSERT_TRUE(assembler.Add(frame).ok());
    }
    const auto whole = assembler.Finish();
    ASSERT_TRUE(whole.ok()) << whole.status();
    EXPECT_TRUE(std::equal(whole->bytes().begin(), whole->bytes().end(),
                           object.bytes().begin(), object.bytes().end()));
  }
}

TEST(FetchAssemblerTest, APieceThatDoesNotBelongIsRefused) {
  const SharedBytes object = RandomPayload(9, (2 << 20) + 5);
  const PieceKey key = KeyFor(object);
  const auto refuses = [&](auto change, uint32_t index) {
    FetchAssembler assembler(key, kMax);
    for (uint32_t i = 0; i < index; ++i) {
      EXPECT_TRUE(assembler.Add(FetchPiece(key, object, i)).ok());
    }
    Frame piece = FetchPiece(key, object, index);
    change(piece);
    return assembler.Add(piece).code() == absl::StatusCode::kDataLoss;
  };
  EXPECT_TRUE(refuses([](Frame& f) { f.header.part = 1; }, 0));
  EXPECT_TRUE(refuses([](Frame& f) { f.header.parts = 4; }, 1));
  EXPECT_TRUE(refuses([](Frame& f) { ++f.header.attempt; }, 1));
  EXPECT_TRUE(refuses([](Frame& f) { ++f.header.span; }, 2));
  EXPECT_TRUE(refuses(
      [](Frame& f) {
        f.payload = f.payload.Part(0, 7);
        f.header.payload_bytes = 7;
      },
      0));
}

TEST(FetchAssemblerTest, MissingPiecesAndAnotherObjectAreDataLoss) {
  const SharedBytes object = RandomPayload(9, (1 << 20) + 5);
  PieceKey key = KeyFor(object);
  FetchAssembler cut(key, kMax);
  EXPECT_EQ(cut.Finish().status().code(), absl::StatusCode::kDataLoss);
  ASSERT_TRUE(cut.Add(FetchPiece(key, object, 0)).ok());
  EXPECT_EQ(cut.Finish().status().code(), absl::StatusCode::kDataLoss);

  key.hash ^= 1;
  FetchAssembler other(key, kMax);
  for (uint32_t i = 0; i < 2; ++i) {
    ASSERT_TRUE(other.Add(FetchPiece(key, object, i)).ok());
  }
  EXPECT_EQ(other.Finish().status().code(), absl::StatusCode::kDataLoss);
}

TEST(FetchAssemblerTest, AnObjectAboveTheLimitIsRefusedAtItsFirstPiece) {
  const SharedBytes object = RandomPayload(9, 5 << 20);
  const PieceKey key = KeyFor(object);
  FetchAssembler assembler(key, 2 << 20);
  EXPECT_EQ(assembler.Add(FetchPiece(key, object, 0)).code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(FetchWire, ARefusalKeepsItsCodeAndTheBeginningOfItsWords) {
  const auto bytes =
      EncodeFetchRefusal(absl::NotFoundError("span 4 not\nheld"));
  const auto read = DecodeFetchRefusal(bytes);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(*read, absl::NotFoundError("span 4 not?held"));
  const auto longest =
      EncodeFetchRefusal(absl::InternalError(std::string(1000, 'x')));
  EXPECT_EQ(longest.size(), kFetchRefusalBytesMax);
  EXPECT_TRUE(DecodeFetchRefusal(longest).has_value());
}

TEST(FetchWire, WhatIsNoRefusalIsNotTakenForOne) {
  const auto good = EncodeFetchRefusal(absl::NotFoundError("no"));
  for (const size_t at : {size_t{0}, size_t{5}, size_t{9}}) {
    auto bad = good;
    bad[at] = std::byte{0x81};
    EXPECT_FALSE(DecodeFetchRefusal(bad).has_value()) << at;
  }
  auto fine = good;
  fine[4] = std::byte{0};  // the code OK
  EXPECT_FALSE(DecodeFetchRefusal(fine).has_value());
  EXPECT_FALSE(DecodeFetchRefusal(std::span(good).first(7)).has_value());
}

}  // namespace
}  // namespace skerry::transport
