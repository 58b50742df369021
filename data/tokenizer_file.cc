#include "data/tokenizer_file.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "data/sentencepiece/codec.h"
#include "data/tokenizer/tokenizer_json.h"

namespace skerry::data {
namespace {

bool LooksLikeJson(std::string_view bytes) {
  const size_t first = bytes.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && bytes[first] == '{';
}

absl::Status IsNeither(std::string_view bytes) {
  // Its first line: the byte 33 in base64, and its rank.
  if (bytes.starts_with("IQ== 0\n")) {
    return absl::InvalidArgumentError(
        "is a vocabulary of tiktoken, as Llama 3 has under this name; take the "
        "tokenizer.json of that model");
  }
  return absl::InvalidArgumentError(
      "is neither a tokenizer.json nor a model of sentencepiece "
      "(tokenizer.model)");
}

}  // namespace

absl::StatusOr<TokenizerFile> TokenizerFile::Parse(std::string bytes) {
  if (TokenizerFileName(bytes) == kTokenizerModelFile) {
    SKERRY_ASSIGN_OR_RETURN(SentencePieceModel model,
                            ParseSentencePieceModel(bytes));
    TokenizerFile file(std::move(bytes));
    file.model_ = std::make_unique<SentencePieceModel>(std::move(model));
    return file;
  }
  if (!LooksLikeJson(bytes)) return IsNeither(bytes);
  SKERRY_ASSIGN_OR_RETURN(Tokenizer tokenizer, ParseTokenizerJson(bytes));
  TokenizerFile file(std::move(bytes));
  file.tokenizer_ = std::make_unique<Tokenizer>(std::move(tokenizer));
  return file;
}

int TokenizerFile::vocab_size() const {
  return tokenizer_ != nullptr ? tokenizer_->vocab_size()
                               : static_cast<int>(model_->pieces.size());
}

bool TokenizerFile::IsToken(int32_t token) const {
  return tokenizer_ != nullptr ? tokenizer_->IsToken(token)
                               : token >= 0 && token < vocab_size();
}

std::span<const std::string> TokenizerFile::notes() const {
  if (tokenizer_ == nullptr) return {};
  return tokenizer_->notes();
}

std::optional<int32_t> TokenizerFile::FindSpecial(
    std::string_view content) const {
  return tokenizer_ != nullptr ? tokenizer_->FindAdded(content)
                               : FindSpecialPiece(*model_, content);
}

std::optional<int32_t> TokenizerFile::UsualDocumentEnd() const {
  return tokenizer_ != nullptr ? data::UsualDocumentEnd(*tokenizer_)
                               : EndPiece(*model_);
}

absl::StatusOr<std::unique_ptr<TextCodec>> TokenizerFile::MakeCodec(
    std::optional<int32_t> document_end, OpenChannel open,
    WrittenSpecials written) && {
  if (tokenizer_ != nullptr) {
    if (written == WrittenSpecials::kText) tokenizer_->TakeSpecialsAsText();
    return MakeTokenizerCodec(std::move(*tokenizer_), document_end);
  }
  if (document_end.has_value() &&
      (*document_end < 0 || *document_end >= vocab_size())) {
    return absl::InvalidArgumentError(
        absl::StrCat(*document_end, " is no token"));
  }
  return MakeSentencePieceCodec(std::move(bytes_), *model_, std::move(open),
                                {.document_end = document_end});
}

}  // namespace skerry::data
