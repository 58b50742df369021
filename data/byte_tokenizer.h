// data/byte_tokenizer.h
//
// Text as its bytes: token t is byte t. Every text has tokens, and every token
// sequence is a text.
#ifndef SKERRY_DATA_BYTE_TOKENIZER_H_
#define SKERRY_DATA_BYTE_TOKENIZER_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace skerry::data {

inline constexpr std::string_view kByteTokenizerName = "bytes";
inline constexpr int kByteVocabSize = 256;

std::vector<uint16_t> EncodeBytes(std::string_view text);

// Errors: InvalidArgument when a token is not a byte.
absl::StatusOr<std::string> DecodeBytes(std::span<const int32_t> tokens);

}  // namespace skerry::data

#endif  // SKERRY_DATA_BYTE_TOKENIZER_H_
