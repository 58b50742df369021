// data/tokenizer_file.h
//
// Recognises a tokenizer's file of either kind: docs/formats/tokenizer.md.
#ifndef SKERRY_DATA_TOKENIZER_FILE_H_
#define SKERRY_DATA_TOKENIZER_FILE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "data/sentencepiece/channel.h"
#include "data/sentencepiece/model_file.h"
#include "data/tokenizer/text_codec.h"
#include "data/tokenizer/tokenizer.h"
#include "data/tokenizer_config.h"

namespace skerry::data {

class TokenizerFile {
 public:
  // Any bytes may be given. Errors: InvalidArgument with one line, when they
  // are no tokenizer that Skerry reads.
  static absl::StatusOr<TokenizerFile> Parse(std::string bytes);

  const std::string& bytes() const { return bytes_; }
  // What data sets call theirs.
  std::string_view name() const { return TokenizerFileName(bytes_); }
  // One more than the largest token.
  int vocab_size() const;
  // Whether a number is a token; there may be gaps.
  bool IsToken(int32_t token) const;
  // What a user should know of how the file was read; a line each.
  std::span<const std::string> notes() const;
  // The token that is written so and stands for no text: one of added_tokens,
  // or a control or user-defined piece.
  std::optional<int32_t> FindSpecial(std::string_view content) const;
  // The token that ends documents: that of the model, or by the names that
  // public tokenizers give it.
  std::optional<int32_t> UsualDocumentEnd() const;

  // What becomes of a text that is written like a special token: that token, as
  // in the package, or text like any other. A model of sentencepiece never
  // finds its control pieces in a text.
  enum class WrittenSpecials { kToken, kText };
  // `open` starts what encodes for a model of sentencepiece. Errors:
  // InvalidArgument when `document_end` is no token.
  absl::StatusOr<std::unique_ptr<TextCodec>> MakeCodec(
      std::optional<int32_t> document_end, OpenChannel open,
      WrittenSpecials written = WrittenSpecials::kToken) &&;

 private:
  explicit TokenizerFile(std::string bytes) : bytes_(std::move(bytes)) {}

  std::string bytes_;
  // One of both.
  std::unique_ptr<Tokenizer> tokenizer_;
  std::unique_ptr<SentencePieceModel> model_;
};

}  // namespace skerry::data

#endif  // SKERRY_DATA_TOKENIZER_FILE_H_
