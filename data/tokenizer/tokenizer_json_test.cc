#include "data/tokenizer/tokenizer_json.h"

#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "absl/status/status.h"
#include "data/tokenizer/character.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace skerry::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::json;

std::string ReadTestdata(const std::string& name) {
  std::ifstream file("data/tokenizer/testdata/" + name);
  EXPECT_TRUE(file.good()) << name;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// As Python decodes with errors="replace": one replacement for the longest
// beginning of a character (Unicode 15, section 3.9).
std::string Lossy(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t length = 1;
    const int32_t code = DecodeCharacter(text, at, length);
    if (code >= 0) {
      out.append(text, at, length);
      at += length;
      continue;
    }
    out += "\uFFFD";
    size_t begun = 1;
    for (size_t n = 2; n <= 3 && at + n <= text.size(); ++n) {
      // A beginning is good when some bytes after it make a character of it.
      bool can_go_on = false;
      for (const char* tail : {"\x80", "\xbf", "\x80\x80", "\xbf\xbf"}) {
        const std::string whole = text.substr(at, n) + tail;
        size_t used = 1;
        if (DecodeCharacter(whole, 0, used) >= 0 && used == whole.size()) {
          can_go_on = true;
        }
      }
      if (!can_go_on) break;
      begun = n;
    }
    at += begun;
  }
  return out;
}

class GoldenTest : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenTest, EncodesAndDecodesAsTheTokenizersPackage) {
  const auto tokenizer = ParseTokenizerJson(ReadTestdata(GetParam() + ".json"));
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  const Json cases = Json::parse(ReadTestdata(GetParam() + "_cases.json"));
  EXPECT_GT(cases.size(), 100u);
  TextEncoder encoder(*tokenizer);
  for (const Json& one : cases) {
    const auto text = one["text"].get<std::string>();
    const std::vector<int32_t> tokens = encoder.Encode(text);
    EXPECT_EQ(tokens, one["tokens"].get<std::vector<int32_t>>()) << text;
    EXPECT_EQ(tokenizer->prefix().size() + tokenizer->suffix().size(),
              one["whole"].get<size_t>());
    using Specials = Tokenizer::Specials;
    EXPECT_EQ(Lossy(tokenizer->Decode(tokens, Specials::kKeep).value()),
              one["kept"].get<std::string>());
    EXPECT_EQ(Lossy(tokenizer->Decode(tokens, Specials::kLeaveOut).value()),
              one["plain"].get<std::string>());
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, GoldenTest,
                         ::testing::Values("gpt2_like", "gpt2_prefix_space",
                                           "gpt2_whole", "gpt2_gaps",
                                           "llama3_like", "qwen2_like"));

TEST(TokenizerJsonTest, AnyBytesComeBack) {
  for (const char* file : {"gpt2_like.json", "llama3_like.json"}) {
    const auto tokenizer = ParseTokenizerJson(ReadTestdata(file)).value();
    TextEncoder encoder(tokenizer);
    std::string text = "sea \xff\xfe\xc3";
    for (int byte = 255; byte >= 0; --byte) text += static_cast<char>(byte);
    EXPECT_EQ(tokenizer.Decode(encoder.Encode(text), Tokenizer::Specials::kKeep)
                  .value(),
              text);
  }
}

TEST(TokenizerJsonTest, TokensThatAreNoneAreRefused) {
  const auto tokenizer =
      ParseTokenizerJson(ReadTestdata("gpt2_like.json")).value();
  EXPECT_EQ(tokenizer.vocab_size(), 481);
  EXPECT_EQ(tokenizer.FindAdded("<|endoftext|>"), 0);
  EXPECT_EQ(tokenizer.FindAdded("sea"), std::nullopt);
  for (const int32_t token : {-1, 481}) {
    EXPECT_TRUE(absl::IsInvalidArgument(
        tokenizer.Decode({{token}}, Tokenizer::Specials::kKeep).status()));
  }
}

TEST(TokenizerJsonTest, AddedTokensHaveThePackagesNumbersWhateverTheFileSays) {
  const auto tokenizer =
      ParseTokenizerJson(ReadTestdata("gpt2_gaps.json")).value();
  EXPECT_EQ(tokenizer.FindAdded("<|endoftext|>"), 0);
  EXPECT_EQ(tokenizer.FindAdded("<|far|>"), 481);
  EXPECT_EQ(tokenizer.FindAdded("<|x|>"), 483);
  EXPECT_EQ(tokenizer.vocab_size(), 701);
  EXPECT_TRUE(tokenizer.IsToken(483));
  EXPECT_TRUE(tokenizer.IsToken(700));
  EXPECT_FALSE(tokenizer.IsToken(484));
  EXPECT_FALSE(tokenizer.IsToken(701));
  EXPECT_FALSE(tokenizer.IsToken(-1));
}

TEST(TokenizerJsonTest, WhatIsReadOtherwiseThanWrittenIsNoted) {
  const auto tokenizer =
      ParseTokenizerJson(ReadTestdata("gpt2_gaps.json")).value();
  EXPECT_THAT(
      tokenizer.notes(),
      ElementsAre("truncation is saved in the file and not applied",
                  "padding is saved in the file and not applied",
                  HasSubstr("'<|endoftext|>' has the number 0, as in the "
                            "tokenizers package, and not 9"),
                  HasSubstr("'<|far|>' has the number 481"),
                  HasSubstr("'[sea]' has the number 482"),
                  HasSubstr("'<|x|>' has the number 483")));
  const auto plain = ParseTokenizerJson(ReadTestdata("gpt2_like.json")).value();
  EXPECT_THAT(plain.notes(), ElementsAre());
}

// One thing is wrong in an otherwise good file.
class RefusalTest : public ::testing::Test {
 protected:
  RefusalTest() {
    for (const char* kind : {"gpt2_like", "llama3_like"}) {
      files_[kind] = Json::parse(ReadTestdata(std::string(kind) + ".json"));
    }
  }
  std::string Complaint(const Json& file) {
    const auto parsed = ParseTokenizerJson(file.dump());
    EXPECT_TRUE(absl::IsInvalidArgument(parsed.status())) << parsed.status();
    const std::string message(parsed.status().message());
    EXPECT_EQ(message.find('\n'), std::string::npos);
    EXPECT_THAT(message, HasSubstr("tokenizer.json: "));
    return message;
  }
  // After `value` is put at `path` of a file.
  std::string With(const char* kind, const char* path, const Json& value) {
    Json file = files_[kind];
    file[Json::json_pointer(path)] = value;
    return Complaint(file);
  }

  std::map<std::string, Json> files_;
};

TEST_F(RefusalTest, WhatChangesTokensAndIsNotDoneIsNamed) {
  EXPECT_THAT(With("gpt2_like", "/normalizer", {{"type", "NFKC"}}),
              HasSubstr("the normalizer is 'NFKC', which Skerry does not do"));
  EXPECT_THAT(
      With("gpt2_like", "/normalizer",
           {{"type", "Sequence"}, {"normalizers", {{{"type", "Lowercase"}}}}}),
      HasSubstr("the normalizer is 'Lowercase'"));
  EXPECT_THAT(With("gpt2_like", "/model/type", "Unigram"),
              HasSubstr("not BPE"));
  EXPECT_THAT(With("gpt2_like", "/model/dropout", 0.1),
              HasSubstr("dropout is 0.1, with which a text has other tokens "
                        "every time; set it to null"));
  EXPECT_THAT(With("gpt2_like", "/model/end_of_word_suffix", "</w>"),
              HasSubstr("end_of_word_suffix"));
  EXPECT_THAT(With("gpt2_like", "/model/hasty", true), HasSubstr("'hasty'"));
  EXPECT_THAT(With("gpt2_like", "/decoder/type", "WordPiece"),
              HasSubstr("decoder"));
  EXPECT_THAT(With("gpt2_like", "/pre_tokenizer/type", "Whitespace"),
              HasSubstr("'Whitespace'"));
  EXPECT_THAT(With("gpt2_like", "/added_tokens/0/lstrip", true),
              HasSubstr("lstrip"));
  EXPECT_THAT(With("gpt2_like", "/post_processor/type", "BertProcessing"),
              HasSubstr("'BertProcessing'"));
  EXPECT_THAT(With("llama3_like",
                   "/pre_tokenizer/pretokenizers/0/pattern/Regex", "\\w+"),
              HasSubstr("Regex"));
  EXPECT_THAT(
      With("llama3_like", "/pre_tokenizer/pretokenizers/0/behavior", "Removed"),
      HasSubstr("Isolated"));
}

TEST_F(RefusalTest, ContradictionsAreNamed) {
  EXPECT_THAT(With("gpt2_like", "/model/vocab/a", 5),
              HasSubstr("two tokens have the number 5"));
  EXPECT_THAT(With("gpt2_like", "/model/vocab/a", -5),
              HasSubstr("number is not in"));
  EXPECT_THAT(With("gpt2_like", "/model/vocab/zzz", uint64_t{1} << 40),
              HasSubstr("number is not in"));
  EXPECT_THAT(With("gpt2_like", "/model/merges/0", "ab"),
              HasSubstr("merge 0 is no pair"));
  EXPECT_THAT(With("gpt2_like", "/model/merges/1", {"a", "\u4e2d"}),
              HasSubstr("merge 1 names"));
  EXPECT_THAT(With("gpt2_like", "/model/merges/1",
                   files_["gpt2_like"]["model"]["merges"][0]),
              HasSubstr("merge 1 joins a pair"));
  EXPECT_THAT(With("gpt2_like", "/added_tokens/1/content", "<|endoftext|>"),
              HasSubstr("'<|endoftext|>' is there twice, once special"));
  // Added tokens are numbered from the count of the vocabulary on.
  EXPECT_THAT(With("gpt2_like", "/model/vocab/apart", 481),
              HasSubstr("two tokens have the number 481"));
  EXPECT_THAT(With("gpt2_like", "/added_tokens/1/id", -3),
              HasSubstr("number is not in"));
  EXPECT_THAT(
      With("llama3_like",
           "/post_processor/processors/1/single/0/SpecialToken/id", "<who>"),
      HasSubstr("'<who>'"));
  EXPECT_THAT(With("llama3_like",
                   "/post_processor/processors/1/special_tokens/"
                   "<|begin_of_text|>/ids",
                   {4000}),
              HasSubstr("4000, which is no token"));
  Json file = files_["gpt2_like"];
  file["model"]["vocab"].erase("a");
  EXPECT_THAT(Complaint(file), HasSubstr("no token for byte 97"));
}

TEST_F(RefusalTest, WhatIsNoTokenizerIsRefused) {
  for (const char* text : {"", "{", "[]", "{}", "\xff", R"({"model": 3})"}) {
    const auto parsed = ParseTokenizerJson(text);
    EXPECT_TRUE(absl::IsInvalidArgument(parsed.status())) << text;
  }
}

}  // namespace
}  // namespace skerry::data
