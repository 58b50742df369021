#include "data/tokenizer/text_codec.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "data/byte_tokenizer.h"

namespace skerry::data {
namespace {

class ByteCodec final : public TextCodec {
 public:
  int vocab_size() const override { return kByteVocabSize; }
  absl::Status AppendPart(std::string_view part, Place place,
                          std::vector<int32_t>& tokens) override {
    tokens.reserve(tokens.size() + part.size());
    for (const char byte : part) tokens.push_back(static_cast<uint8_t>(byte));
    return absl::OkStatus();
  }
  size_t PartEnd(std::string_view text, size_t at) const override {
    return std::min(at, text.size());
  }
  std::unique_ptr<TextCodec> Clone() const override { return MakeByteCodec(); }
  absl::StatusOr<std::vector<int32_t>> Prompt(std::string_view text) override {
    std::vector<int32_t> tokens;
    SKERRY_RETURN_IF_ERROR(AppendDocument(text.empty() ? "\n" : text, tokens));
    return tokens;
  }
  absl::StatusOr<std::string> Decode(std::span<const int32_t> tokens) override {
    return DecodeBytes(tokens);
  }
  std::optional<int32_t> document_end() const override { return std::nullopt; }
};

class TokenizerCodec final : public TextCodec {
 public:
  TokenizerCodec(std::shared_ptr<const Tokenizer> tokenizer,
                 std::optional<int32_t> document_end)
      : tokenizer_(std::move(tokenizer)),
        encoder_(*tokenizer_),
        document_end_(document_end) {}

  int vocab_size() const override { return tokenizer_->vocab_size(); }
  bool IsToken(int32_t token) const override {
    return tokenizer_->IsToken(token);
  }

  absl::Status AppendPart(std::string_view part, Place place,
                          std::vector<int32_t>& tokens) override {
    const auto append = [&](std::span<const int32_t> around) {
      tokens.insert(tokens.end(), around.begin(), around.end());
    };
    if (place.is_first) append(tokenizer_->prefix());
    encoder_.Append(part, tokens);
    if (!place.is_last) return absl::OkStatus();
    const std::span<const int32_t> suffix = tokenizer_->suffix();
    append(suffix);
    const bool has_ended = !suffix.empty() && suffix.back() == document_end_;
    if (document_end_.has_value() && !has_ended) {
      tokens.push_back(*document_end_);
    }
    return absl::OkStatus();
  }

  size_t PartEnd(std::string_view text, size_t at) const override {
    return tokenizer_->PartEnd(text, at);
  }

  std::unique_ptr<TextCodec> Clone() const override {
    return std::make_unique<TokenizerCodec>(tokenizer_, document_end_);
  }

  absl::StatusOr<std::vector<int32_t>> Prompt(std::string_view text) override {
    std::vector<int32_t> tokens(tokenizer_->prefix().begin(),
                                tokenizer_->prefix().end());
    encoder_.Append(text, tokens);
    // In the stream of training a document begins after the end of another.
    if (tokens.empty() && document_end_.has_value()) {
      tokens.push_back(*document_end_);
    }
    if (tokens.empty()) encoder_.Append("\n", tokens);
    return tokens;
  }

  absl::StatusOr<std::string> Decode(std::span<const int32_t> tokens) override {
    return tokenizer_->Decode(tokens, Tokenizer::Specials::kLeaveOut);
  }

  bool IsSpecial(int32_t token) const override {
    return token == document_end_ || tokenizer_->IsSpecial(token);
  }

  std::optional<int32_t> document_end() const override { return document_end_; }

 private:
  const std::shared_ptr<const Tokenizer> tokenizer_;
  TextEncoder encoder_;
  const std::optional<int32_t> document_end_;
};

}  // namespace

absl::Status TextCodec::AppendDocuments(std::span<const std::string> texts,
                                        std::vector<int32_t>& tokens) {
  for (const std::string& text : texts) {
    SKERRY_RETURN_IF_ERROR(AppendDocument(text, tokens));
  }
  return absl::OkStatus();
}

std::unique_ptr<TextCodec> MakeByteCodec() {
  return std::make_unique<ByteCodec>();
}

absl::StatusOr<std::unique_ptr<TextCodec>> MakeTokenizerCodec(
    Tokenizer tokenizer, std::optional<int32_t> document_end) {
  if (document_end.has_value()) {
    const int32_t token[] = {*document_end};
    const auto decoded = tokenizer.Decode(token, Tokenizer::Specials::kKeep);
    if (!decoded.ok()) return decoded.status();
  }
  return std::make_unique<TokenizerCodec>(
      std::make_shared<const Tokenizer>(std::move(tokenizer)), document_end);
}

std::optional<int32_t> UsualDocumentEnd(const Tokenizer& tokenizer) {
  for (const char* name : {"<|endoftext|>", "<|end_of_text|>", "</s>"}) {
    if (const auto token = tokenizer.FindAdded(name)) return token;
  }
  return std::nullopt;
}

}  // namespace skerry::data
