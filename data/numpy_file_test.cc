#include "data/numpy_file.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::data {
namespace {

using ::testing::HasSubstr;

// As numpy.save writes it: the header ends at a multiple of 64 bytes.
std::string NumpyFile(const std::string& dict, const std::string& items,
                      int version = 1) {
  const size_t length_bytes = version == 1 ? 2 : 4;
  std::string header = dict;
  while ((8 + length_bytes + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string file = "\x93NUMPY";
  file += static_cast<char>(version);
  file += '\0';
  for (size_t i = 0; i < length_bytes; ++i) {
    file += static_cast<char>(header.size() >> (8 * i) & 0xff);
  }
  return file + header + items;
}

std::string Dict(const std::string& type, const std::string& shape) {
  return "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape +
         ", }";
}

absl::StatusOr<TokenArray> Parsed(const std::string& file) {
  return ParseNumpyFile(std::as_bytes(std::span(file)));
}

std::string Refusal(const std::string& file) {
  const auto parsed = Parsed(file);
  EXPECT_TRUE(absl::IsInvalidArgument(parsed.status()));
  return std::string(parsed.status().message());
}

TEST(NumpyFileTest, ArraysOfOneAndTwoDimensionsAreRead) {
  for (const int version : {1, 2, 3}) {
    const std::string file =
        NumpyFile(Dict("<u2", "(3,)"), std::string("\1\0\2\0\3\1", 6), version);
    const auto array = Parsed(file);
    ASSERT_TRUE(array.ok()) << array.status();
    EXPECT_EQ(array->type, ItemType::kU16);
    std::vector<int32_t> tokens;
    ASSERT_TRUE(AppendTokens(*array, 0, 3, 1000, tokens).ok());
    EXPECT_EQ(tokens, (std::vector<int32_t>{1, 2, 259}));
  }
  const std::string file =
      NumpyFile(Dict("<i4", "(2, 3)"), std::string(24, '\0'));
  ASSERT_TRUE(Parsed(file).ok());
  EXPECT_EQ(Parsed(file)->size(), 6u);
  const std::string empty = NumpyFile(Dict("<i8", "(0,)"), "");
  EXPECT_EQ(Parsed(empty)->size(), 0u);
}

TEST(NumpyFileTest, WhatIsNotTokensIsRefusedInOneLine) {
  EXPECT_THAT(Refusal("PK"), HasSubstr("does not begin as one"));
  EXPECT_THAT(Refusal("\x93NUMPY"), HasSubstr("ends within its header"));
  EXPECT_THAT(Refusal(NumpyFile(Dict("<f4", "(1,)"), "1234")),
              HasSubstr("its items are '<f4'"));
  EXPECT_THAT(Refusal(NumpyFile(Dict(">u2", "(1,)"), "12")),
              HasSubstr("little endian"));
  EXPECT_THAT(Refusal(NumpyFile(Dict("<u2", "(3,)"), "12")),
              HasSubstr("asks for 6 bytes, and it holds 2"));
  EXPECT_THAT(Refusal(NumpyFile(Dict("<u2", "()"), "12")),
              HasSubstr("its shape is ()"));
  EXPECT_THAT(Refusal(NumpyFile(
                  Dict("<u2", "(4294967296, 4294967296, 4294967296)"), "")),
              HasSubstr("its shape is"));
  EXPECT_THAT(
      Refusal(NumpyFile(
          "{'descr': '<u2', 'fortran_order': True, 'shape': (1,), }", "12")),
      HasSubstr("columns first"));
  EXPECT_THAT(Refusal(NumpyFile("{}", "")), HasSubstr("no descr"));
  EXPECT_THAT(Refusal(NumpyFile(Dict("<u2", "(1,)"), "12", 4)),
              HasSubstr("version 4"));
}

}  // namespace
}  // namespace skerry::data
