#include "transport/answer.h"

#include <gtest/gtest.h>

namespace skerry::transport {
namespace {

TEST(AnswerTest, WhatIsEncodedIsDecoded) {
  const std::vector<Answered> answers = {{0, Answer::kAccepted},
                                         {~uint64_t{0}, Answer::kHeld},
                                         {7, Answer::kCorrupt}};
  EXPECT_EQ(DecodeAnswers(EncodeAnswers(answers)).value(), answers);
  EXPECT_TRUE(DecodeAnswers({}).value().empty());
}

TEST(AnswerTest, TheLayoutIsTheOneOfTheFormatPage) {
  const Answered answered{0x0102030405060708, Answer::kNotYet};
  const std::vector<std::byte> bytes = EncodeAnswers({&answered, 1});
  ASSERT_EQ(bytes.size(), 16u);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(bytes[i], std::byte(8 - i));
  EXPECT_EQ(bytes[8], std::byte{3});
  for (int i = 9; i < 16; ++i) EXPECT_EQ(bytes[i], std::byte{0});
}

TEST(AnswerTest, BytesThatNoSenderWritesAreRefused) {
  const Answered answered{1, Answer::kAccepted};
  const std::vector<std::byte> good = EncodeAnswers({&answered, 1});
  const auto with = [&good](size_t at, int value) {
    std::vector<std::byte> bytes = good;
    bytes[at] = std::byte(value);
    return DecodeAnswers(bytes).status().code();
  };
  EXPECT_EQ(with(8, 0), absl::StatusCode::kDataLoss);
  EXPECT_EQ(with(8, 6), absl::StatusCode::kDataLoss);
  EXPECT_EQ(with(15, 1), absl::StatusCode::kDataLoss);
  EXPECT_FALSE(DecodeAnswers(std::span(good).first(15)).ok());
}

}  // namespace
}  // namespace skerry::transport
