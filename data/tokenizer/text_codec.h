// data/tokenizer/text_codec.h
//
// Text to tokens and back, by whichever tokenizer a data set or a model has.
#ifndef SKERRY_DATA_TOKENIZER_TEXT_CODEC_H_
#define SKERRY_DATA_TOKENIZER_TEXT_CODEC_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/tokenizer/tokenizer.h"

namespace skerry::data {

// One thread uses it at a time. Another process may do the encoding, so calls
// may fail although their input is right. Errors are one line and name what
// failed.
class TextCodec {
 public:
  virtual ~TextCodec() = default;
  // Whether texts can be encoded and decoded, before there is any.
  virtual absl::Status Ready() { return absl::OkStatus(); }
  // Tokens lie in [0, vocab_size()).
  virtual int vocab_size() const = 0;
  // Whether a number in [0, vocab_size()) is a token. There may be gaps.
  virtual bool IsToken(int32_t) const { return true; }
  // Appends the tokens of whole texts as training data have them: each text
  // with the tokens that begin and end it, and `document_end`. Requires:
  // shorter than 4 GiB.
  virtual absl::Status AppendDocuments(std::span<const std::string> texts,
                                       std::vector<int32_t>& tokens);
  absl::Status AppendDocument(std::string_view text,
                              std::vector<int32_t>& tokens) {
    return AppendPart(text, {}, tokens);
  }
  // Appends the tokens of a part of a text. The tokens of all its parts, one
  // after another, are those of the text. Requires: the part begins and ends
  // where PartEnd says, or where the text does.
  struct Place {
    bool is_first = true;
    bool is_last = true;
  };
  virtual absl::Status AppendPart(std::string_view part, Place place,
                                  std::vector<int32_t>& tokens) = 0;
  // The first place from `at` on where a part of `text` may end, which begins
  // where a part does; its end when there is none before.
  virtual size_t PartEnd(std::string_view text, size_t at) const = 0;
  // The same for another thread.
  virtual std::unique_ptr<TextCodec> Clone() const = 0;
  // What a model goes on from: the beginning of a document; never empty.
  virtual absl::StatusOr<std::vector<int32_t>> Prompt(
      std::string_view text) = 0;
  // Special tokens are left out. Errors: InvalidArgument for what is no token.
  virtual absl::StatusOr<std::string> Decode(
      std::span<const int32_t> tokens) = 0;
  // Whether a token stands for no text: it marks where documents end, or is
  // special by its tokenizer. A text that is written like one has it too.
  virtual bool IsSpecial(int32_t token) const { return false; }
  // The token after which a text is over.
  virtual std::optional<int32_t> document_end() const = 0;
};

// Token t is byte t. Nothing marks the end of a document; a model that is
// given nothing goes on from a line break.
std::unique_ptr<TextCodec> MakeByteCodec();

// Makes the codec of a tokenizer. A model without a prompt continues from the
// tokens that begin a text, else from the end of a document, else from a line
// break. Errors: InvalidArgument when `document_end` is no token.
absl::StatusOr<std::unique_ptr<TextCodec>> MakeTokenizerCodec(
    Tokenizer tokenizer, std::optional<int32_t> document_end);

// The token that ends documents by the names that public tokenizers give it.
std::optional<int32_t> UsualDocumentEnd(const Tokenizer& tokenizer);

}  // namespace skerry::data

#endif  // SKERRY_DATA_TOKENIZER_TEXT_CODEC_H_
