// data/tokenizer/split_pattern.h
//
// The regular expressions by which byte-level encodings cut text into pieces
// before they merge bytes, matched by hand.
#ifndef SKERRY_DATA_TOKENIZER_SPLIT_PATTERN_H_
#define SKERRY_DATA_TOKENIZER_SPLIT_PATTERN_H_

#include <cstddef>
#include <optional>
#include <string_view>

namespace skerry::data {

enum class SplitPattern {
  // No pattern: a text is one piece.
  kWhole,
  // The pattern of pre-tokenizer ByteLevel with use_regex.
  kGpt2,
  // The pattern of Llama 3, and the one of models that split numbers into
  // single digits.
  kLlama3,
  kLlama3SingleDigits,
};

inline constexpr std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|)"
    R"(\s+(?!\S)|\s+)";
inline constexpr std::string_view kLlama3Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
inline constexpr std::string_view kLlama3SingleDigitsPattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

// None for a regular expression that is not one of the three.
std::optional<SplitPattern> FindSplitPattern(std::string_view expression);

// Where the piece that begins at `begin` ends. Pieces follow one another
// without gaps. Requires: begin < text.size().
size_t PieceEnd(SplitPattern pattern, std::string_view text, size_t begin);

// Returns true if a piece ends at `at` whatever the rest of the text is, so
// that the text can be cut there. It returns true only before a space and a
// letter, and between a line feed and a letter.
bool IsFirmEnd(SplitPattern pattern, std::string_view text, size_t at);

}  // namespace skerry::data

#endif  // SKERRY_DATA_TOKENIZER_SPLIT_PATTERN_H_
