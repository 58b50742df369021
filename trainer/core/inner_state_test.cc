#include "trainer/core/inner_state.h"

#include <cstring>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::trainer {
namespace {

using ::testing::HasSubstr;

std::vector<std::byte> FileOf(const std::string& json,
                              const InnerLabel& label = {7, 12}) {
  std::vector<model::TensorEntry> tensors(1);
  tensors[0].name = "exp_avg/w";
  tensors[0].shape = {2};
  std::vector<std::byte> file = InnerHeader(tensors, label, json).value();
  const float values[] = {1.5f, -2.f};
  const auto bytes = std::as_bytes(std::span(values));
  file.insert(file.end(), bytes.begin(), bytes.end());
  return file;
}

TEST(InnerStateTest, WhatIsWrittenIsRead) {
  const std::vector<std::byte> file = FileOf(R"({"steps":3})");
  const auto view = ParseInnerState(file, 7);
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->sequence, 12u);
  EXPECT_EQ(view->json, R"({"steps":3})");
  std::vector<float> values(2);
  view->tensors.Read(*view->tensors.Find("exp_avg/w"), values);
  EXPECT_EQ(values, (std::vector<float>{1.5f, -2.f}));
}

TEST(InnerStateTest, OtherFilesAreRefusedInOneLine) {
  const auto refusal = [](std::span<const std::byte> file, uint64_t layout) {
    const absl::Status status = ParseInnerState(file, layout).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    return std::string(status.message());
  };
  const std::vector<std::byte> file = FileOf("{}");
  EXPECT_THAT(refusal(file, 8), HasSubstr("another layout"));
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_NE(refusal(std::span(file).first(size), 7), "");
  }
  EXPECT_THAT(refusal(FileOf("[1]"), 7), HasSubstr("skerry.state"));
  EXPECT_THAT(refusal(FileOf(R"({"a":1,"a":2})"), 7),
              HasSubstr("skerry.state"));
  std::vector<model::TensorEntry> none;
  EXPECT_THAT(refusal(model::SafetensorsHeader(none, {}).value(), 7),
              HasSubstr("no inner state of version 1"));
  EXPECT_THAT(
      refusal(model::SafetensorsHeader(
                  none, {{"skerry.inner", "1"}, {"skerry.layout_hash", "x"}})
                  .value(),
              7),
      HasSubstr("no number as its skerry.layout_hash"));
}

TEST(InnerStateTest, TheTextHasABound) {
  std::vector<model::TensorEntry> none;
  const std::string json =
      "{\"a\":\"" + std::string(kInnerJsonBytesMax, 'x') + "\"}";
  EXPECT_TRUE(absl::IsInvalidArgument(InnerHeader(none, {}, json).status()));
}

}  // namespace
}  // namespace skerry::trainer
