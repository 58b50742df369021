#include "data/tokenizer/split_pattern.h"

#include "data/tokenizer/character.h"

namespace skerry::data {
namespace {

size_t RunEnd(std::string_view text, size_t at, CharacterClass kind) {
  while (at < text.size()) {
    const Character character = CharacterAt(text, at);
    if (character.kind != kind) break;
    at += character.bytes;
  }
  return at;
}

bool IsLineEnd(char c) { return c == '\r' || c == '\n'; }

// The lower-case letter that `(?i:)` takes the character for, or 0; the long s
// (U+017F) is an s.
char Folded(std::string_view text, size_t at, size_t& bytes) {
  bytes = 1;
  if (at >= text.size()) return 0;
  const char c = text[at];
  if (c >= 'a' && c <= 'z') return c;
  if (c >= 'A' && c <= 'Z') return static_cast<char>(c - 'A' + 'a');
  if (c == '\xc5' && at + 1 < text.size() && text[at + 1] == '\xbf') {
    bytes = 2;
    return 's';
  }
  return 0;
}

// End of 's 't 're 've 'm 'll 'd after the apostrophe at `at`, or `at`.
size_t ContractionEnd(std::string_view text, size_t at, bool fold) {
  size_t first_bytes = 1;
  size_t second_bytes = 1;
  const char first = Folded(text, at + 1, first_bytes);
  if (!fold && first != 0 && text[at + 1] != first) return at;
  const size_t after = at + 1 + first_bytes;
  if (first == 's' || first == 't' || first == 'm' || first == 'd') {
    return after;
  }
  if (first != 'r' && first != 'v' && first != 'l') return at;
  const char second = Folded(text, after, second_bytes);
  if (second != (first == 'l' ? 'l' : 'e')) return at;
  if (!fold && text[after] != second) return at;
  return after + 1;
}

// \s+(?!\S)|\s+ : spaces but for the last before something else, unless it is
// the only one. `end` is where the run of spaces at `begin` ends.
size_t SpacesEnd(std::string_view text, size_t begin, size_t end) {
  if (end == text.size()) return end;
  size_t last = begin;
  for (size_t at = begin; at < end; at += CharacterAt(text, at).bytes) {
    last = at;
  }
  return last == begin ? end : last;
}

size_t Gpt2PieceEnd(std::string_view text, size_t begin) {
  if (text[begin] == '\'') {
    const size_t end = ContractionEnd(text, begin, /*fold=*/false);
    if (end != begin) return end;
  }
  size_t at = begin;
  if (text[at] == ' ' && at + 1 < text.size()) ++at;
  const Character character = CharacterAt(text, at);
  if (character.kind != CharacterClass::kSpace) {
    return RunEnd(text, at + character.bytes, character.kind);
  }
  return SpacesEnd(text, begin, RunEnd(text, begin, CharacterClass::kSpace));
}

size_t NumberEnd(std::string_view text, size_t at, int digits_max) {
  for (int i = 0; i < digits_max && at < text.size(); ++i) {
    const Character character = CharacterAt(text, at);
    if (character.kind != CharacterClass::kNumber) break;
    at += character.bytes;
  }
  return at;
}

size_t OthersEnd(std::string_view text, size_t at) {
  at = RunEnd(text, at, CharacterClass::kOther);
  while (at < text.size() && IsLineEnd(text[at])) ++at;
  return at;
}

// \s*[\r\n]+|\s+(?!\S)|\s+ : up to the last line end if there is one.
size_t LinesEnd(std::string_view text, size_t begin) {
  const size_t end = RunEnd(text, begin, CharacterClass::kSpace);
  for (size_t at = end; at > begin; --at) {
    if (IsLineEnd(text[at - 1])) return at;
  }
  return SpacesEnd(text, begin, end);
}

size_t Llama3PieceEnd(std::string_view text, size_t begin, int digits_max) {
  if (text[begin] == '\'') {
    const size_t end = ContractionEnd(text, begin, /*fold=*/true);
    if (end != begin) return end;
  }
  const Character first = CharacterAt(text, begin);
  const size_t next = begin + first.bytes;
  if (first.kind == CharacterClass::kLetter) {
    return RunEnd(text, next, CharacterClass::kLetter);
  }
  if (first.kind == CharacterClass::kNumber) {
    return NumberEnd(text, begin, digits_max);
  }
  const CharacterClass second = next < text.size()
                                    ? CharacterAt(text, next).kind
                                    : CharacterClass::kSpace;
  if (second == CharacterClass::kLetter && !IsLineEnd(text[begin])) {
    return RunEnd(text, next, CharacterClass::kLetter);
  }
  if (first.kind == CharacterClass::kOther) return OthersEnd(text, begin);
  if (text[begin] == ' ' && second == CharacterClass::kOther) {
    return OthersEnd(text, next);
  }
  return LinesEnd(text, begin);
}

// The class of the character that ends at `end`. Requires: end > 0.
CharacterClass ClassBefore(std::string_view text, size_t end) {
  for (size_t bytes = 4; bytes > 1; --bytes) {
    if (bytes > end) continue;
    const Character character = CharacterAt(text, end - bytes);
    if (character.bytes == bytes) return character.kind;
  }
  return CharacterAt(text, end - 1).kind;
}

bool IsLetterAt(std::string_view text, size_t at) {
  return at < text.size() &&
         CharacterAt(text, at).kind == CharacterClass::kLetter;
}

}  // namespace

std::optional<SplitPattern> FindSplitPattern(std::string_view expression) {
  if (expression == kGpt2Pattern) return SplitPattern::kGpt2;
  if (expression == kLlama3Pattern) return SplitPattern::kLlama3;
  if (expression == kLlama3SingleDigitsPattern) {
    return SplitPattern::kLlama3SingleDigits;
  }
  return std::nullopt;
}

size_t PieceEnd(SplitPattern pattern, std::string_view text, size_t begin) {
  switch (pattern) {
    case SplitPattern::kWhole:
      return text.size();
    case SplitPattern::kGpt2:
      return Gpt2PieceEnd(text, begin);
    case SplitPattern::kLlama3:
      return Llama3PieceEnd(text, begin, 3);
    case SplitPattern::kLlama3SingleDigits:
      return Llama3PieceEnd(text, begin, 1);
  }
  return text.size();
}

bool IsFirmEnd(SplitPattern pattern, std::string_view text, size_t at) {
  if (pattern == SplitPattern::kWhole || at == 0 || at >= text.size()) {
    return false;
  }
  // A run of several spaces is cut by what follows it.
  if (text[at] == ' ') {
    return IsLetterAt(text, at + 1) &&
           ClassBefore(text, at) != CharacterClass::kSpace;
  }
  return text[at - 1] == '\n' && at > 1 && IsLetterAt(text, at) &&
         ClassBefore(text, at - 1) != CharacterClass::kSpace;
}

}  // namespace skerry::data
