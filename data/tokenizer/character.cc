#include "data/tokenizer/character.h"

#include <algorithm>
#include <span>
#include <vector>

#include "data/tokenizer/character_ranges.h"

namespace skerry::data {
namespace {

constexpr int32_t kCodePointMax = 0x10ffff;

// The class of every code point up to the last that has one.
std::vector<CharacterClass> ClassTable() {
  int32_t last = 0;
  for (const auto ranges : {LetterRanges(), NumberRanges(), SpaceRanges()}) {
    last = std::max(last, ranges.back().last);
  }
  std::vector<CharacterClass> table(static_cast<size_t>(last) + 1,
                                    CharacterClass::kOther);
  const auto mark = [&](std::span<const CodeRange> ranges, CharacterClass c) {
    for (const CodeRange& range : ranges) {
      std::fill(table.begin() + range.first, table.begin() + range.last + 1, c);
    }
  };
  mark(LetterRanges(), CharacterClass::kLetter);
  mark(NumberRanges(), CharacterClass::kNumber);
  mark(SpaceRanges(), CharacterClass::kSpace);
  return table;
}

}  // namespace

// Table 3-7 of the Unicode standard: no surrogates, no overlong forms, nothing
// above U+10FFFF.
int32_t DecodeCharacter(std::string_view text, size_t at, size_t& length) {
  const auto byte = [&](size_t i) {
    return static_cast<int32_t>(static_cast<uint8_t>(text[at + i]));
  };
  const int32_t lead = byte(0);
  length = 1;
  if (lead < 0x80) return lead;
  const size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() - at < bytes) return -1;
  int32_t code = lead & (0x7f >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return -1;
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr int32_t kSmallest[5] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kSmallest[bytes] || code > kCodePointMax ||
      (code >= 0xd800 && code <= 0xdfff)) {
    return -1;
  }
  length = bytes;
  return code;
}

void AppendCharacter(int32_t code, std::string& text) {
  const auto add = [&](int32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xc0 | code >> 6);
  } else if (code < 0x10000) {
    add(0xe0 | code >> 12);
    add(0x80 | (code >> 6 & 0x3f));
  } else {
    add(0xf0 | code >> 18);
    add(0x80 | (code >> 12 & 0x3f));
    add(0x80 | (code >> 6 & 0x3f));
  }
  add(0x80 | (code & 0x3f));
}

namespace internal {

Character WideCharacterAt(std::string_view text, size_t at) {
  static const std::vector<CharacterClass>& table =
      *new std::vector<CharacterClass>(ClassTable());
  size_t length = 1;
  const int32_t code = DecodeCharacter(text, at, length);
  const bool is_known = code >= 0 && static_cast<size_t>(code) < table.size();
  return {is_known ? table[static_cast<size_t>(code)] : CharacterClass::kOther,
          static_cast<uint8_t>(length)};
}

}  // namespace internal
}  // namespace skerry::data
