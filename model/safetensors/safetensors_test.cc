#include "model/safetensors/safetensors.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::byte> ToBytes(const std::string& text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

// A file with this header text and as many zero bytes after it.
std::vector<std::byte> File(const std::string& header, size_t values) {
  std::string text(8, '\0');
  const uint64_t length = header.size();
  std::memcpy(text.data(), &length, 8);
  return ToBytes(text + header + std::string(values, '\0'));
}

std::string Refusal(const std::vector<std::byte>& bytes) {
  const auto view = SafetensorsView::Parse(bytes);
  EXPECT_EQ(view.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(view.status().message());
}

std::vector<float> Values(const SafetensorsView& view,
                          const std::string& name) {
  const TensorEntry* tensor = view.Find(name);
  if (tensor == nullptr) return {};
  std::vector<float> values(tensor->elements());
  view.Read(*tensor, values);
  return values;
}

TEST(SafetensorsTest, ReadsWhatPythonWrote) {
  std::ifstream in("model/safetensors/testdata/python.safetensors",
                   std::ios::binary);
  const std::vector<std::byte> bytes =
      ToBytes({std::istreambuf_iterator<char>(in), {}});
  const auto view = SafetensorsView::Parse(bytes);
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->tensors().size(), 5u);
  EXPECT_THAT(view->Find("block.weight")->shape, ElementsAre(2, 4));
  EXPECT_THAT(view->Find("block.brain")->shape, ElementsAre(4, 1, 2));
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_THAT(Values(*view, "block.weight"),
              ElementsAre(0.0f, -0.0f, 1.0f, -2.5f, 1 / 3.0f, 65519.0f,
                          0x1p-24f, kInfinity));
  EXPECT_THAT(Values(*view, "block.half"),
              ElementsAre(0.0f, -0.0f, 1.0f, -2.5f, 0.33325195f, 65504.0f,
                          0x1p-24f, kInfinity));
  EXPECT_THAT(Values(*view, "block.brain"),
              ElementsAre(0.0f, -0.0f, 1.0f, -2.5f, 0.33398438f, 65536.0f,
                          0x1p-24f, kInfinity));
  EXPECT_THAT(Values(*view, "scalar"), ElementsAre(7.0f));
  EXPECT_THAT(Values(*view, "empty"), ElementsAre());
  EXPECT_EQ(view->metadata().at("note"), "a \u201cquote\u201d");
  EXPECT_EQ(view->Find("absent"), nullptr);
}

TEST(SafetensorsTest, WhatIsWrittenIsReadBack) {
  std::vector<TensorEntry> tensors = {
      {.name = "b", .dtype = Dtype::kF32, .shape = {3}},
      {.name = "a \"1\"", .dtype = Dtype::kBf16, .shape = {2, 1}},
      {.name = "none", .dtype = Dtype::kF16, .shape = {0}},
      {.name = "s", .dtype = Dtype::kF16, .shape = {}}};
  auto bytes = SafetensorsHeader(tensors, {{"format", "pt"}});
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_EQ(bytes->size() % 8, 0u);
  EXPECT_EQ(tensors[1].begin, 12u);
  const size_t header = bytes->size();
  bytes->resize(header + tensors.back().end);
  const float values[] = {1, 2, 3};
  EncodeElements(values, Dtype::kF32, std::span(*bytes).subspan(header, 12));
  const auto view = SafetensorsView::Parse(*bytes);
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->tensors(), tensors);
  EXPECT_EQ(view->metadata(), (SafetensorsMetadata{{"format", "pt"}}));
  EXPECT_THAT(Values(*view, "b"), ElementsAre(1, 2, 3));
}

TEST(SafetensorsTest, TensorsOfOtherTypesTakeTheirBytesAndAreNotReadable) {
  const auto bytes =
      File(R"({"mask":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]},)"
           R"("half":{"dtype":"F4","shape":[2],"data_offsets":[3,4]},)"
           R"("a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
           8);
  const auto view = SafetensorsView::Parse(bytes);
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->Find("mask")->foreign_dtype, "BOOL");
  EXPECT_FALSE(view->Find("half")->is_readable());
  EXPECT_EQ(view->Bytes(*view->Find("mask")).size(), 3u);
  EXPECT_THAT(Values(*view, "a"), ElementsAre(0.0f));
}

TEST(SafetensorsTest, WriterRefusesNamesThatAreTakenOrNoText) {
  std::vector<TensorEntry> twice = {{.name = "a", .shape = {}},
                                    {.name = "a", .shape = {}}};
  EXPECT_FALSE(SafetensorsHeader(twice, {}).ok());
  std::vector<TensorEntry> reserved = {{.name = "__metadata__", .shape = {}}};
  EXPECT_FALSE(SafetensorsHeader(reserved, {}).ok());
  std::vector<TensorEntry> no_text = {{.name = "\xff", .shape = {}}};
  EXPECT_FALSE(SafetensorsHeader(no_text, {}).ok());
  std::vector<TensorEntry> negative = {{.name = "a", .shape = {-1}}};
  EXPECT_FALSE(SafetensorsHeader(negative, {}).ok());
  std::vector<TensorEntry> huge = {
      {.name = "a", .shape = {int64_t{1} << 40, int64_t{1} << 40}}};
  EXPECT_FALSE(SafetensorsHeader(huge, {}).ok());
}

TEST(SafetensorsTest, EveryCutIsRefused) {
  const std::vector<std::byte> whole =
      File(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8);
  ASSERT_TRUE(SafetensorsView::Parse(whole).ok());
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(SafetensorsView::Parse(std::span(whole).first(size)).ok())
        << size;
  }
}

TEST(SafetensorsTest, EveryMistakeOfTheHeaderIsNamed) {
  const auto tensor = [](const std::string& body, size_t values = 8) {
    return File("{\"a\":{" + body + "}}", values);
  };
  const auto offsets = [&](const std::string& text, size_t values = 8) {
    return tensor(R"("dtype":"F32","shape":[2],"data_offsets":)" + text,
                  values);
  };
  EXPECT_THAT(Refusal(ToBytes("\xff\xff\xff\xff\xff\xff\xff\xff{}")),
              HasSubstr("claims a header of 18446744073709551615 bytes"));
  EXPECT_THAT(Refusal(File("{", 0)), HasSubstr("not JSON at byte"));
  EXPECT_THAT(Refusal(File("[]", 0)), HasSubstr("not a JSON object"));
  EXPECT_THAT(Refusal(File(" {}", 0)), HasSubstr("does not begin with {"));
  EXPECT_THAT(Refusal(File("{\"a\":[[[[]]]]}", 0)), HasSubstr("nests deeper"));
  EXPECT_THAT(Refusal(File("{\"a\":{},\"a\":{}}", 0)),
              HasSubstr("the key a twice"));
  EXPECT_THAT(Refusal(tensor(R"("dtype":"F32","shape":[2])")),
              HasSubstr("tensor a: needs exactly dtype"));
  EXPECT_THAT(Refusal(tensor(R"("dtype":"","shape":[1],"data_offsets":[0,8])")),
              HasSubstr("has no dtype"));
  EXPECT_THAT(
      Refusal(tensor(R"("dtype":"I64","shape":[1],"data_offsets":[8,0])")),
      HasSubstr("do not span"));
  EXPECT_THAT(
      Refusal(ToBytes("version https://git-lfs.github.com/spec/v1\noid ")),
      HasSubstr("git lfs pull"));
  EXPECT_THAT(Refusal(offsets("[0,8,8]")), HasSubstr("two data_offsets"));
  EXPECT_THAT(Refusal(offsets("[-8,0]")), HasSubstr("must be integers"));
  EXPECT_THAT(Refusal(offsets("[8,0]")), HasSubstr("do not span"));
  EXPECT_THAT(Refusal(offsets("[0,4]", 4)), HasSubstr("do not span"));
  EXPECT_THAT(Refusal(offsets("[4,12]", 12)), HasSubstr("begins at 4, not"));
  EXPECT_THAT(Refusal(offsets("[0,8]", 9)), HasSubstr("the file has 9"));
  EXPECT_THAT(Refusal(tensor("\"dtype\":\"F32\",\"shape\":[4611686018427387904,"
                             "4],\"data_offsets\":[0,0]")),
              HasSubstr("do not span"));
  EXPECT_THAT(Refusal(File(R"({"__metadata__":{"a":1}})", 0)),
              HasSubstr("__metadata__ a is not a string"));
}

TEST(SafetensorsTest, TensorsMayNotShareBytes) {
  EXPECT_THAT(
      Refusal(File(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                   R"("b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
                   8)),
      HasSubstr("tensor b: begins at 0, not at 8"));
}

}  // namespace
}  // namespace skerry::model
