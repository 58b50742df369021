#include "data/byte_tokenizer.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace skerry::data {

std::vector<uint16_t> EncodeBytes(std::string_view text) {
  std::vector<uint16_t> tokens(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    tokens[i] = static_cast<unsigned char>(text[i]);
  }
  return tokens;
}

absl::StatusOr<std::string> DecodeBytes(std::span<const int32_t> tokens) {
  std::string text(tokens.size(), '\0');
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] < 0 || tokens[i] >= kByteVocabSize) {
      return absl::InvalidArgumentError(
          absl::StrCat("token ", tokens[i], " at place ", i, " is not a byte"));
    }
    text[i] = static_cast<char>(tokens[i]);
  }
  return text;
}

}  // namespace skerry::data
