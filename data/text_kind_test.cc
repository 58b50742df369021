#include "data/text_kind.h"

#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::data {
namespace {

using namespace std::string_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kLines[] = "{\"text\": \"a\"}\n{\"text\": \"b\"}\n";

TextKind Kind(std::string_view head, std::string_view path,
              bool is_whole = true) {
  EXPECT_TRUE(CheckIsText(head, path).ok()) << CheckIsText(head, path);
  const auto kind = TextKindOf(head, is_whole, path);
  EXPECT_TRUE(kind.ok()) << kind.status();
  return kind.value_or(TextKind::kText);
}

std::string Refusal(std::string_view head, std::string_view path) {
  absl::Status status = CheckIsText(head, path);
  if (status.ok()) status = TextKindOf(head, true, path).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << path << ": " << status;
  EXPECT_THAT(std::string(status.message()), ::testing::Not(HasSubstr("\n")));
  return std::string(status.message());
}

TEST(TextKindTest, PackedFilesAreKnownByTheirFirstBytes) {
  EXPECT_EQ(PackingOf("\x1f\x8b\x08"s), Packing::kGzip);
  EXPECT_EQ(PackingOf("\x28\xb5\x2f\xfd"s), Packing::kZstd);
  EXPECT_EQ(PackingOf("\x5a\x2a\x4d\x18"s), Packing::kZstd);
  EXPECT_EQ(PackingOf("text"), Packing::kNone);
  EXPECT_EQ(PackingOf(""), Packing::kNone);
}

TEST(TextKindTest, JsonLinesAreKnownByTheirContentWhateverTheirName) {
  for (const char* path : {"d.jsonl", "d.JSONL", "d.ndjson", "d.json", "d.txt",
                           "-", "d", "d.jsonl.gz", "/dev/fd/63"}) {
    EXPECT_EQ(Kind(kLines, path), TextKind::kJsonLines) << path;
  }
  EXPECT_EQ(Kind("\xef\xbb\xbf\n{\"a\": 1}\n", "d.txt"), TextKind::kJsonLines);
  // A line that is longer than the head.
  EXPECT_EQ(Kind("{\"text\": \"long", "d", /*is_whole=*/false),
            TextKind::kJsonLines);
}

TEST(TextKindTest, NamesDecideWhereTheContentLeavesItOpen) {
  for (const char* path :
       {"d.jsonl", "D.NDJSON", "d.json", "d.JsonL.Gz", "d.ndjson.zst"}) {
    EXPECT_EQ(Kind("", path), TextKind::kJsonLines) << path;
    EXPECT_EQ(Kind("no JSON\n", path), TextKind::kJsonLines) << path;
  }
  EXPECT_EQ(Kind("{\"text\": \"broken\n{\"text\": \"b\"}\n", "d.jsonl"),
            TextKind::kJsonLines);
  for (const char* path : {"d.txt", "d.md", "d", "d.txt.gz", "jsonl"}) {
    EXPECT_EQ(Kind("", path), TextKind::kText) << path;
    EXPECT_EQ(Kind("Once upon a time", path), TextKind::kText) << path;
  }
}

TEST(TextKindTest, TextsThatBeginWithBracketsAreTexts) {
  for (const char* text :
       {"{ braces }\n", "{\"a\", \"b\"};\n", "[link](url)\n", "[1] A note\n",
        "[section]\nkey = 1\n", "{\n  int x;\n}\n"}) {
    EXPECT_EQ(Kind(text, "d.txt"), TextKind::kText) << text;
  }
}

TEST(TextKindTest, OtherFormsOfJsonAreRefusedWithTheCure) {
  for (const char* path : {"d.json", "d.jsonl", "d.txt"}) {
    EXPECT_THAT(Refusal("[{\"text\": \"a\"}]", path),
                AllOf(HasSubstr("JSON array"), HasSubstr("jq -c '.[]' ")))
        << path;
  }
  EXPECT_THAT(Refusal("[\"a\", \"b\"]", "d.json"), HasSubstr("JSON array"));
  const char spread[] = "{\n  \"text\": \"a\"\n}\n";
  EXPECT_THAT(Refusal(spread, "d.json"), HasSubstr("jq -c . d.json"));
  EXPECT_THAT(Refusal(spread, "d.txt"), HasSubstr("--format text"));
}

TEST(TextKindTest, FilesThatHoldNoTextAreRefusedWithTheCure) {
  EXPECT_THAT(Refusal("PAR1\x15"s, "d.parquet"),
              AllOf(HasSubstr("is Parquet"),
                    HasSubstr("pandas.read_parquet('d.parquet')")));
  EXPECT_THAT(Refusal("\xff\xfe"
                      "a\0b\0"s,
                      "d.txt"),
              HasSubstr("is text in UTF-16, which is not read; convert it: "
                        "iconv -f UTF-16 -t UTF-8 d.txt | skerryctl data "
                        "prepare -"));
  EXPECT_THAT(Refusal("\xfe\xff\0a"s, "d.txt"), HasSubstr("UTF-16"));
  EXPECT_THAT(Refusal("\xff\xfe\0\0a\0\0\0"s, "d.txt"), HasSubstr("UTF-32"));
  EXPECT_THAT(Refusal("BZh91AY&SY", "d.bz2"), HasSubstr("bzip2 -dc d.bz2 |"));
  EXPECT_THAT(Refusal("\xfd"
                      "7zXZ\0\0"s,
                      "d.xz"),
              HasSubstr("xz -dc d.xz |"));
  EXPECT_THAT(Refusal("PK\x03\x04"s, "d.zip"), HasSubstr("unzip -p d.zip |"));
  EXPECT_THAT(Refusal("7z\xbc\xaf\x27\x1c"s, "d.7z"), HasSubstr("7z x -so"));
  EXPECT_THAT(Refusal("\x88\xd8\x34\x01\x01\0\0\0"s, "d.bin"),
              HasSubstr("skerryctl data import"));
  EXPECT_THAT(Refusal("\x93NUMPY\x01"s, "d.npy"), HasSubstr("data import"));
  EXPECT_THAT(Refusal("\x1f\x8b\x08"s, "d.gz"), HasSubstr("twice"));
  std::string tar(512, '\0');
  tar.replace(0, 5, "d.txt").replace(257, 5, "ustar");
  EXPECT_THAT(Refusal(tar, "d.tar"), HasSubstr("a tar archive"));
}

// Files that nobody has listed.
TEST(TextKindTest, WhateverHasBytesOfNoTextAndIsNoUtf8IsRefused) {
  EXPECT_EQ(Refusal("GIF89a\x01\0\x01\0\x80\xff"s, "d.gif"),
            "is no text: it has the byte 01 at byte 7, which no text has, and "
            "is no UTF-8; give a file of text, or take its bytes as they are: "
            "--format text");
  const std::string kinds[] = {
      "RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\xe8\xff\x17\0"s,  // a sound
      "\x80\x04\x95\x0f\0\0\0\0\0\0\0]\x94\x8c"s,         // a pickle
      "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0"s,            // a .doc
      "\0\0\0\x18"
      "ftypmp42\0\0\xff\xfe\xc0\xc1\0\0"s,  // a film
  };
  for (const std::string& kind : kinds) {
    EXPECT_THAT(Refusal(kind, "d.txt"), HasSubstr("is no text"));
    EXPECT_THAT(Refusal(kind, "d.jsonl"), HasSubstr("is no text"));
  }
  EXPECT_THAT(Refusal("OggS\0\x02\0\0"s, "d.ogg"),
              HasSubstr("is no text: it has the byte 00 at byte 5, which no "
                        "text has, and many more of that kind; give"));
  EXPECT_THAT(Refusal("\x28\x01\0\0\0\0\0\0{\"w\":{}}"s, "d.safetensors"),
              HasSubstr("is a file of weights"));
  EXPECT_THAT(Refusal("ORC\x1d\0"s, "d"), HasSubstr("is an ORC file"));
}

// One of the two alone is what texts have: another character set, a separator,
// a character that the end of the head cuts.
TEST(TextKindTest, OtherCharacterSetsAndControlCharactersAreTexts) {
  for (const std::string& text :
       {"caf\xe9 au lait\n"s, "one\0two\0caf\xc3\xa9"s,
        "\x1b[1mbold\x1b[0m \xe9\n"s}) {
    EXPECT_EQ(Kind(text, "d.txt"), TextKind::kText) << text;
  }
  for (size_t kept = 1; kept < 4; ++kept) {
    std::string head = "\x01" + std::string(kTextHeadBytes - kept - 1, 'a');
    head += "\xf0\x9f\x98\x80"s.substr(0, kept);
    EXPECT_EQ(Kind(head, "d.txt"), TextKind::kText) << kept;
    head.pop_back();
    EXPECT_EQ(CheckIsText(head, "d.txt").ok(), kept == 1) << kept;
  }
}

// Files of those kinds have bytes that no text has, or their name's ending.
TEST(TextKindTest, TextsThatBeginLikeOtherKindsAreTexts) {
  for (const char* text : {"PAR1 is a gene.\n", "BZh\n", "LZIP packs.\n",
                           "GGUF, a format\n", "%PDF- begins one\n"}) {
    EXPECT_EQ(Kind(text, "d.txt"), TextKind::kText) << text;
  }
  EXPECT_THAT(Refusal("PAR1 any bytes", "d.Parquet"), HasSubstr("is Parquet"));
  EXPECT_THAT(Refusal("PAR1\x15\x04"s, "d.txt"), HasSubstr("is Parquet"));
}

TEST(TextKindTest, Utf16WithoutAMarkIsKnownByItsZeros) {
  std::string little;
  for (const char c : "a text in English\n"s) little += {c, '\0'};
  EXPECT_THAT(Refusal(little, "d.txt"), HasSubstr("iconv -f UTF-16LE"));
  EXPECT_THAT(Refusal("\0"s + little.substr(0, little.size() - 1), "d.txt"),
              HasSubstr("iconv -f UTF-16BE"));
  // A text may have zeros.
  EXPECT_EQ(Kind("zeros\0\0\0\0in\0a text of some length"s, "d.txt"),
            TextKind::kText);
}

}  // namespace
}  // namespace skerry::data
