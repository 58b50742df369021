// data/tokenizer/character.h
//
// Characters of a text as pre-tokenizers see them: a length in bytes and one
// of four classes.
#ifndef SKERRY_DATA_TOKENIZER_CHARACTER_H_
#define SKERRY_DATA_TOKENIZER_CHARACTER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace skerry::data {

// \p{L}, \p{N} and \s of the regular expressions in tokenizer.json; the
// classes of data/tokenizer/character_ranges.h.
enum class CharacterClass : uint8_t { kOther, kLetter, kNumber, kSpace };

struct Character {
  CharacterClass kind = CharacterClass::kOther;
  uint8_t bytes = 1;
};

namespace internal {

constexpr std::array<CharacterClass, 128> AsciiClasses() {
  std::array<CharacterClass, 128> classes{};
  for (size_t c = 0; c < classes.size(); ++c) {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      classes[c] = CharacterClass::kLetter;
    } else if (c >= '0' && c <= '9') {
      classes[c] = CharacterClass::kNumber;
    } else if (c == ' ' || (c >= '\t' && c <= '\r')) {
      classes[c] = CharacterClass::kSpace;
    }
  }
  return classes;
}
inline constexpr std::array<CharacterClass, 128> kAsciiClasses = AsciiClasses();

Character WideCharacterAt(std::string_view text, size_t at);

}  // namespace internal

// A byte that begins no well-formed UTF-8 is a character of its own, of class
// kOther: no byte of any text is lost. Requires: at < text.size().
inline Character CharacterAt(std::string_view text, size_t at) {
  const auto byte = static_cast<uint8_t>(text[at]);
  if (byte < 128) return {internal::kAsciiClasses[byte], 1};
  return internal::WideCharacterAt(text, at);
}

// The code point of `length` bytes of well-formed UTF-8 at `at`, or -1 with
// `length` 1 where there is none.
int32_t DecodeCharacter(std::string_view text, size_t at, size_t& length);

// Requires: a code point.
void AppendCharacter(int32_t code, std::string& text);

}  // namespace skerry::data

#endif  // SKERRY_DATA_TOKENIZER_CHARACTER_H_
