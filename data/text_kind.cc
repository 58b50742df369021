#include "data/text_kind.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "data/json_line.h"
#include "data/tokenizer/character.h"

namespace skerry::data {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kBlank = " \t\r\n";
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

absl::string_view Absl(std::string_view text) {
  return {text.data(), text.size()};
}

// A kind of file that is known by its first bytes and is not read.
struct Foreign {
  std::string_view magic;
  size_t at;
  std::string_view what;
  // What to do; $ stands for the path.
  std::string_view cure;
  // The ending of such files' names, set when a text may begin with `magic`
  // too. A file without binary bytes then counts only if its name ends so.
  std::string_view ending = "";
};

constexpr std::string_view kPiped = " | skerryctl data prepare - --out FOLDER";
constexpr std::string_view kImport =
    "give it to skerryctl data import, which copies tokens";
constexpr std::string_view kNoText = "give a file of text";

// Longer beginnings come before those that they begin with.
constexpr std::array kForeign = {
    Foreign{"PAR1"sv, 0, "Parquet",
            "write JSON lines from it: python3 -c \"import pandas; "
            "pandas.read_parquet('$').to_json('$.jsonl', orient='records', "
            "lines=True)\"",
            ".parquet"},
    Foreign{"ARROW1"sv, 0, "an Arrow file",
            "write JSON lines from it with pandas.read_feather(...).to_json("
            "..., orient='records', lines=True)",
            ".arrow"},
    Foreign{"ORC"sv, 0, "an ORC file",
            "write JSON lines from it with pandas.read_orc(...).to_json(..., "
            "orient='records', lines=True)",
            ".orc"},
    Foreign{"Obj\x01"sv, 0, "an Avro file", "write JSON lines from it"},
    Foreign{"BZh"sv, 0, "compressed by bzip2", "bzip2 -dc $|", ".bz2"},
    Foreign{"\xfd"
            "7zXZ\0"sv,
            0, "compressed by xz", "xz -dc $|"},
    Foreign{"LZIP"sv, 0, "compressed by lzip", "lzip -dc $|", ".lz"},
    Foreign{"\x04\x22\x4d\x18"sv, 0, "compressed by lz4", "lz4 -dc $|"},
    Foreign{"PK\x03\x04"sv, 0, "a zip archive", "unzip -p $|"},
    Foreign{"PK\x05\x06"sv, 0, "an empty zip archive", kNoText},
    Foreign{"7z\xbc\xaf\x27\x1c"sv, 0, "a 7z archive", "7z x -so $|"},
    Foreign{"Rar!\x1a\x07"sv, 0, "a rar archive", "unrar p -inul $|"},
    Foreign{"ustar"sv, 257, "a tar archive",
            "unpack it and name the files in it", ".tar"},
    Foreign{"\xff\xfe\0\0"sv, 0, "text in UTF-32",
            "iconv -f UTF-32 -t UTF-8 $|"},
    Foreign{"\0\0\xfe\xff"sv, 0, "text in UTF-32",
            "iconv -f UTF-32 -t UTF-8 $|"},
    Foreign{"\xff\xfe"sv, 0, "text in UTF-16", "iconv -f UTF-16 -t UTF-8 $|"},
    Foreign{"\xfe\xff"sv, 0, "text in UTF-16", "iconv -f UTF-16 -t UTF-8 $|"},
    Foreign{"\x93NUMPY"sv, 0, "an array of NumPy", kImport},
    Foreign{"\x88\xd8\x34\x01\x01\0\0\0"sv, 0, "a shard of llm.c", kImport},
    Foreign{"\xa1\xd9\x34\x01\x07\0\0\0"sv, 0, "a shard of llm.c", kImport},
    Foreign{"MMIDIDX\0\0"sv, 0, "an index of Megatron", kImport},
    Foreign{"SQLite format 3\0"sv, 0, "an SQLite database",
            "write JSON lines from it"},
    Foreign{"\x89HDF\r\n\x1a\n"sv, 0, "an HDF5 file",
            "write JSON lines from it"},
    Foreign{"%PDF-"sv, 0, "a PDF", "pdftotext $ -|", ".pdf"},
    Foreign{"GGUF"sv, 0, "a file of weights", kNoText, ".gguf"},
    // Eight bytes count the JSON that begins safetensors.
    Foreign{"\0\0{\""sv, 6, "a file of weights", kNoText},
    Foreign{"\x7f"
            "ELF"sv,
            0, "a program", kNoText},
    Foreign{"\x89PNG\r\n\x1a\n"sv, 0, "a picture", kNoText},
    Foreign{"\xff\xd8\xff"sv, 0, "a picture", kNoText},
};

// Whether no text has that byte, in whatever character set.
bool IsBinary(char c) {
  const auto byte = static_cast<uint8_t>(c);
  return byte < 0x07 || (byte > 0x0d && byte < 0x20 && byte != 0x1b);
}

// True when the beginning has bytes that no text has.
bool IsBinary(std::string_view head) {
  head = head.substr(0, 4096);
  return std::any_of(head.begin(), head.end(),
                     [](char c) { return IsBinary(c); });
}

// Whether `head` is UTF-8, up to a character that the end of a long one cuts.
bool IsUtf8(std::string_view head) {
  constexpr size_t kCharacterBytesMax = 4;
  const bool is_cut = head.size() >= kTextHeadBytes;
  for (size_t at = 0; at < head.size();) {
    size_t length = 0;
    if (DecodeCharacter(head, at, length) < 0) {
      return is_cut && head.size() - at < kCharacterBytesMax;
    }
    at += length;
  }
  return true;
}

// A text may have some bytes that no text has, or be in another character set.
// With both, or with many such bytes, it is a picture, a sound, a pickle, or
// packed in some other way.
absl::Status CheckIsNoOtherFile(std::string_view head) {
  constexpr int64_t kOneInMax = 4;
  const auto is_odd = [](char c) { return IsBinary(c); };
  const auto odd = std::find_if(head.begin(), head.end(), is_odd);
  if (odd == head.end()) return absl::OkStatus();
  const bool is_utf8 = IsUtf8(head);
  if (is_utf8 && kOneInMax * std::count_if(odd, head.end(), is_odd) <
                     static_cast<int64_t>(head.size())) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrFormat(
      "is no text: it has the byte %02X at byte %d, which no text has, and %s; "
      "give a file of text, or take its bytes as they are: --format text",
      static_cast<uint8_t>(*odd), odd - head.begin() + 1,
      is_utf8 ? "many more of that kind" : "is no UTF-8"));
}

bool Is(const Foreign& foreign, std::string_view head, std::string_view path) {
  if (head.size() < foreign.at ||
      !head.substr(foreign.at).starts_with(foreign.magic)) {
    return false;
  }
  return foreign.ending.empty() || IsBinary(head) ||
         absl::EndsWithIgnoreCase(Absl(path), Absl(foreign.ending));
}

absl::Status Refused(std::string_view what, std::string_view cure,
                     std::string_view path) {
  std::string text =
      absl::StrReplaceAll(Absl(cure), {{"$", Absl(path)}, {"|", Absl(kPiped)}});
  const bool is_command = absl::EndsWith(text, Absl(kPiped));
  return absl::InvalidArgumentError(
      absl::StrCat("is ", Absl(what), ", which is not read; ",
                   is_command ? "convert it: " : "", text));
}

// Texts of western scripts in UTF-16 without a mark have a zero for every other
// byte and none between.
bool IsUnmarkedUtf16(std::string_view head) {
  constexpr size_t kBytesMin = 16;
  head = head.substr(0, 4096);
  if (head.size() < kBytesMin) return false;
  size_t zeros[2] = {0, 0};
  for (size_t i = 0; i < head.size(); ++i) zeros[i % 2] += head[i] == '\0';
  const size_t more = std::max(zeros[0], zeros[1]);
  return std::min(zeros[0], zeros[1]) == 0 && more * 2 * 10 >= head.size() * 9;
}

std::string_view WithoutBlanks(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlank);
  return first == text.npos ? std::string_view() : text.substr(first);
}

bool Take(std::string_view& text, char c) {
  text = WithoutBlanks(text);
  if (text.empty() || text[0] != c) return false;
  text.remove_prefix(1);
  return true;
}

// Whether `text` begins with `{ "key" :`, as no other text does.
bool BeginsWithMember(std::string_view text) {
  if (!Take(text, '{') || !Take(text, '"')) return false;
  while (!text.empty() && text[0] != '"') {
    if (text[0] == '\\') text.remove_prefix(1);
    if (!text.empty()) text.remove_prefix(1);
  }
  return Take(text, '"') && Take(text, ':');
}

bool BeginsWithArrayOfObjects(std::string_view text) {
  return Take(text, '[') && Take(text, '{') && Take(text, '"');
}

// What a file's name says of its content.
enum class NamedKind { kNothing, kJson, kJsonLines };

NamedKind KindByName(std::string_view path) {
  std::string name = absl::AsciiStrToLower(Absl(path));
  for (const absl::string_view packed : {".gz", ".gzip", ".zst", ".zstd"}) {
    if (!absl::EndsWith(name, packed)) continue;
    name.resize(name.size() - packed.size());
    break;
  }
  if (absl::EndsWith(name, ".jsonl") || absl::EndsWith(name, ".ndjson") ||
      absl::EndsWith(name, ".jsonlines")) {
    return NamedKind::kJsonLines;
  }
  return absl::EndsWith(name, ".json") ? NamedKind::kJson : NamedKind::kNothing;
}

absl::Status Array(std::string_view path, NamedKind named) {
  return absl::InvalidArgumentError(absl::StrCat(
      "begins as a JSON array, and JSON is read as one object a line; convert "
      "it: jq -c '.[]' ",
      Absl(path), Absl(kPiped),
      named == NamedKind::kNothing ? ", or take it as text: --format text"
                                   : ""));
}

absl::Status Spread(std::string_view path, NamedKind named) {
  return absl::InvalidArgumentError(absl::StrCat(
      "begins as a JSON object, but its first line is no whole one, and JSON "
      "is read as one object a line; convert it: jq -c . ",
      Absl(path), Absl(kPiped),
      named == NamedKind::kNothing ? ", or take it as text: --format text"
                                   : ""));
}

// A text that begins with a brace.
absl::StatusOr<TextKind> KindOfBrace(std::string_view text, bool is_whole,
                                     std::string_view path, NamedKind named) {
  const size_t feed = text.find('\n');
  const bool has_line = feed != text.npos || is_whole;
  const bool is_lines = has_line ? CheckJsonObject(text.substr(0, feed)).ok()
                                 : BeginsWithMember(text);
  if (is_lines || named == NamedKind::kJsonLines) return TextKind::kJsonLines;
  if (named == NamedKind::kJson || BeginsWithMember(text)) {
    return Spread(path, named);
  }
  return TextKind::kText;
}

}  // namespace

Packing PackingOf(std::string_view head) {
  if (head.starts_with("\x1f\x8b"sv)) return Packing::kGzip;
  // A frame, or one to be skipped before it.
  const bool skips = head.size() >= 4 && (head[0] & 0xf0) == 0x50 &&
                     head.substr(1, 3) == "\x2a\x4d\x18"sv;
  if (skips || head.starts_with("\x28\xb5\x2f\xfd"sv)) return Packing::kZstd;
  return Packing::kNone;
}

std::string_view PackingName(Packing packing) {
  switch (packing) {
    case Packing::kGzip:
      return "gzip";
    case Packing::kZstd:
      return "zstd";
    case Packing::kNone:
      break;
  }
  return "";
}

absl::Status CheckIsText(std::string_view head, std::string_view path) {
  for (const Foreign& foreign : kForeign) {
    if (Is(foreign, head, path)) {
      return Refused(foreign.what, foreign.cure, path);
    }
  }
  if (PackingOf(head) != Packing::kNone) {
    return absl::InvalidArgumentError("is compressed twice; unpack it once");
  }
  if (!IsUnmarkedUtf16(head)) return CheckIsNoOtherFile(head);
  return Refused("text in UTF-16",
                 head[0] == '\0' ? "iconv -f UTF-16BE -t UTF-8 $|"
                                 : "iconv -f UTF-16LE -t UTF-8 $|",
                 path);
}

absl::StatusOr<TextKind> TextKindOf(std::string_view head, bool is_whole,
                                    std::string_view path) {
  const NamedKind named = KindByName(path);
  std::string_view text = head;
  if (text.starts_with(kByteOrderMark)) {
    text.remove_prefix(kByteOrderMark.size());
  }
  text = WithoutBlanks(text);
  if (text.starts_with('{')) return KindOfBrace(text, is_whole, path, named);
  if (BeginsWithArrayOfObjects(text) ||
      (text.starts_with('[') && named == NamedKind::kJson)) {
    return Array(path, named);
  }
  return named == NamedKind::kNothing ? TextKind::kText : TextKind::kJsonLines;
}

}  // namespace skerry::data
