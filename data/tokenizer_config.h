// data/tokenizer_config.h
//
// What stands beside a model: its tokenizer's file under the name that
// transformers looks for, and the tokenizer_config.json that AutoTokenizer
// reads with it.
#ifndef SKERRY_DATA_TOKENIZER_CONFIG_H_
#define SKERRY_DATA_TOKENIZER_CONFIG_H_

#include <string>
#include <string_view>

namespace skerry::data {

inline constexpr std::string_view kTokenizerJsonFile = "tokenizer.json";
inline constexpr std::string_view kTokenizerModelFile = "tokenizer.model";

// The name of a tokenizer's file, by its first bytes alone.
std::string_view TokenizerFileName(std::string_view tokenizer);

// The text of the tokenizer_config.json beside such a file, for a model of that
// context length.
std::string TokenizerConfigJson(std::string_view tokenizer, int context_length);

}  // namespace skerry::data

#endif  // SKERRY_DATA_TOKENIZER_CONFIG_H_
