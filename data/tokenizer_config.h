// data/tokenizer_config.h
//
// Makes the tokenizer files of a model folder: the tokenizer's file under the
// name that transformers looks for, and the tokenizer_config.json that
// AutoTokenizer reads with it.
#ifndef SKERRY_DATA_TOKENIZER_CONFIG_H_
#define SKERRY_DATA_TOKENIZER_CONFIG_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace skerry::data {

inline constexpr std::string_view kTokenizerJsonFile = "tokenizer.json";
inline constexpr std::string_view kTokenizerModelFile = "tokenizer.model";

// The name of a tokenizer's file, by its first bytes alone.
std::string_view TokenizerFileName(std::string_view tokenizer);

struct SpecialToken {
  int32_t token = 0;
  std::string text;
};

// The tokens that begin and end a text.
struct SpecialTokens {
  std::optional<SpecialToken> begin;
  std::optional<SpecialToken> end;
};

// The end is the first of `ends`, what the model's config names, that is a
// special token of this file; otherwise the one by which public tokenizers call
// it. Nothing when the bytes are no tokenizer.
SpecialTokens FindSpecialTokens(std::string_view tokenizer,
                                std::span<const int32_t> ends);

// The text of the tokenizer_config.json beside such a file, for a model of that
// context length.
std::string TokenizerConfigJson(std::string_view tokenizer, int context_length,
                                const SpecialTokens& special);

}  // namespace skerry::data

#endif  // SKERRY_DATA_TOKENIZER_CONFIG_H_
