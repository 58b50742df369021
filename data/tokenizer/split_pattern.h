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
  // None: a text is one piece.
  kWhole,
  // Of pre-tokenizer ByteLevel with use_regex.
  kGpt2,
  // Of Llama 3, and of others with numbers digit by digit.
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

// Whether a piece ends at `at` whatever the rest of the text is: what comes
// before and what comes after have the same pieces apart. Only the places
// before a space and a letter, and after a line feed before a letter, are
// looked at.
bool IsFirmEnd(SplitPattern pattern, std::string_view text, size_t at);

}  // namespace skerry::data

#endif  // SKERRY_DATA_TOKENIZER_SPLIT_PATTERN_H_
