#include "data/prepare/prepare_encoding.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "data/byte_tokenizer.h"

namespace skerry::data {
namespace {

absl::StatusOr<std::optional<int32_t>> FindDocumentEnd(
    const TokenizerFile& file, const EncodingOptions& options) {
  if (options.document_end == "none") return std::optional<int32_t>();
  const std::optional<int32_t> token =
      options.document_end.empty() ? file.UsualDocumentEnd()
                                   : file.FindSpecial(options.document_end);
  if (!token.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        options.tokenizer, " has no special token ",
        options.document_end.empty() ? "with a usual name for a document's end"
                                     : options.document_end,
        "; name one with --document-end, or none"));
  }
  return token;
}

}  // namespace

absl::StatusOr<Encoding> OpenEncoding(const EncodingOptions& options,
                                      OpenChannel sentencepiece,
                                      const runtime::Files& files) {
  if (options.tokenizer.empty()) {
    return Encoding{MakeByteCodec(), std::string(kByteTokenizerName), "", {}};
  }
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                          files.Read(options.tokenizer));
  absl::StatusOr<TokenizerFile> file = TokenizerFile::Parse(
      std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  if (!file.ok()) return Annotate(file.status(), options.tokenizer);
  SKERRY_ASSIGN_OR_RETURN(const std::optional<int32_t> end,
                          FindDocumentEnd(*file, options));
  Encoding encoding{nullptr,
                    std::string(file->name()),
                    file->bytes(),
                    {file->notes().begin(), file->notes().end()}};
  SKERRY_ASSIGN_OR_RETURN(
      encoding.codec,
      (*std::move(file))
          .MakeCodec(end, std::move(sentencepiece), options.written_specials));
  // A program that is missing is noticed before inputs are read.
  const absl::Status ready = encoding.codec->Ready();
  if (!ready.ok()) return Annotate(ready, options.tokenizer);
  return encoding;
}

}  // namespace skerry::data
