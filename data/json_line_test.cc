#include "data/json_line.h"

#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::data {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Text(std::string_view line) {
  const auto text = TextOfJsonLine(line, "text");
  EXPECT_TRUE(text.ok()) << line << ": " << text.status();
  return text.value_or("");
}

std::string Wrong(std::string_view line) {
  const absl::Status status = TextOfJsonLine(line, "text").status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << line << ": " << status;
  EXPECT_THAT(std::string(status.message()), ::testing::Not(HasSubstr("\n")));
  return std::string(status.message());
}

TEST(JsonLineTest, TheTextIsFoundAmongAnyOtherValues) {
  EXPECT_EQ(Text(R"({"text": "a"})"), "a");
  EXPECT_EQ(Text("\xef\xbb\xbf \t{\"text\":\"a\"}\r\n"), "a");
  EXPECT_EQ(Text(R"({"n":-1.5e+3,"z":0,"l":[[],{},[1,{"text":"no"}]],)"
                 R"("o":{"text":"no"},"t":true,"f":false,"x":null,)"
                 R"("text":"yes","after":[1]})"),
            "yes");
  EXPECT_EQ(Text(R"({"text":"first","text":"last"})"), "last");
  EXPECT_EQ(
      Text(R"({"text":"\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC\ud83d\ude00"})"),
      "\"\\/\b\f\n\r\tA\u00e9\u20ac\U0001f600");
  EXPECT_EQ(Text("{\"te\\u0078t\":\"\u00e9\U0001f600\"}"), "\u00e9\U0001f600");
}

// As Python's json does, which writes them too.
TEST(JsonLineTest, NumbersThatAreNoneAreTakenBesideTheText) {
  EXPECT_EQ(Text(R"({"text":"x","score":NaN})"), "x");
  EXPECT_EQ(Text(R"({"s":[Infinity,-Infinity],"text":"x","big":1e999})"), "x");
}

TEST(JsonLineTest, HalvesOfPairsBecomeTheReplacementCharacter) {
  EXPECT_EQ(Text(R"({"text":"cut \ud83d"})"), "cut \ufffd");
  EXPECT_EQ(Text(R"({"text":"\ude00x"})"), "\ufffdx");
  EXPECT_EQ(Text(R"({"text":"\ud83d\ud83d\ude00"})"), "\ufffd\U0001f600");
  EXPECT_EQ(Text(R"({"text":"\ud83d\u0041"})"), "\ufffdA");
}

TEST(JsonLineTest, AMistakeNamesItsColumnAndReason) {
  EXPECT_THAT(Wrong(R"([1])"), StartsWith("column 1: expected a JSON object"));
  EXPECT_THAT(Wrong(R"({"text": "a")"),
              StartsWith("column 13: the line ends where ',' or '}'"));
  EXPECT_THAT(Wrong(R"({"text": "a)"),
              StartsWith("column 10: the string that begins here has no end"));
  EXPECT_THAT(Wrong(R"({"text": "a"} x)"), StartsWith("column 15: more "));
  EXPECT_THAT(Wrong(R"({"text": nul})"), StartsWith("column 10: expected"));
  EXPECT_THAT(Wrong(R"({"a": 01, "text": "a"})"),
              StartsWith("column 8: a number begins with a zero"));
  EXPECT_THAT(Wrong(R"({"text": "a",})"), StartsWith("column 14: expected"));
  EXPECT_THAT(Wrong(R"({'text': 'a'})"),
              StartsWith("column 2: expected a key in quotes, not '''"));
  EXPECT_THAT(Wrong(R"({"text": "\x"})"), StartsWith("column 12: expected"));
  EXPECT_THAT(Wrong(R"({"text": "\u12"})"), StartsWith("column 15: expected"));
  EXPECT_THAT(Wrong("{\"text\": \"a\tb\"}"),
              StartsWith("column 12: the byte 09 stands in a string"));
  // Characters are counted, not bytes.
  EXPECT_THAT(Wrong("{\"text\": \"\u00e9\u20ac\"x}"),
              StartsWith("column 14: expected ',' or '}', not 'x'"));
}

TEST(JsonLineTest, BytesThatAreNoUtf8AreRefusedWithTheCure) {
  const std::string wrong = Wrong("{\"text\":\"caf\xe9\"}");
  EXPECT_THAT(wrong, StartsWith("column 13: the byte E9 is no UTF-8"));
  EXPECT_THAT(wrong, HasSubstr("iconv -f LATIN1 -t UTF-8"));
  for (const char* bytes :
       {"\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80",
        "\xf4\x90\x80\x80", "\x80", "\xf5\x80\x80\x80", "\xe2\x82"}) {
    EXPECT_THAT(Wrong(std::string("{\"text\":\"") + bytes + "\"}"),
                StartsWith("column 10: "));
  }
}

TEST(JsonLineTest, AnotherKeyOrKindOfValueIsNamed) {
  EXPECT_EQ(Wrong(R"({"content":"x","id":1})"),
            "no string under 'text'; its keys are content, id (--json-key "
            "names the one that has the text)");
  EXPECT_EQ(Wrong(R"({"text":null})"), "no string under 'text' but null");
  EXPECT_EQ(Wrong(R"({"text":3})"), "no string under 'text' but a number");
  EXPECT_EQ(Wrong(R"({"text":["a"]})"), "no string under 'text' but an array");
  EXPECT_EQ(Wrong("{}"), "no string under 'text'; the object is empty");
  EXPECT_THAT(Wrong(R"({"a\nb":"x"})"), HasSubstr("its keys are a?b"));
}

TEST(JsonLineTest, AMillionOpenArraysAreReadWithoutAStackOfCalls) {
  const std::string open(1'000'000, '[');
  const std::string close(1'000'000, ']');
  EXPECT_EQ(Text("{\"a\":" + open + close + ",\"text\":\"x\"}"), "x");
  EXPECT_THAT(Wrong("{\"a\":" + open), HasSubstr("the line ends"));
}

}  // namespace
}  // namespace skerry::data
