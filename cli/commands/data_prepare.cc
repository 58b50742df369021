#include "cli/commands/data_prepare.h"

#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"
#include "cli/commands/data_set_writer.h"
#include "cli/commands/documents.h"
#include "data/byte_tokenizer.h"
#include "data/manifest.h"
#include "data/ngram_entropy.h"
#include "data/tokenizer/text_codec.h"
#include "data/tokenizer/tokenizer_json.h"

namespace skerry::cli {
namespace {

absl::Status ValidateOptions(const DataPrepareOptions& options) {
  if (options.inputs.empty()) {
    return absl::InvalidArgumentError("name at least one text file");
  }
  if (options.output_directory.empty()) {
    return absl::InvalidArgumentError("name a directory for the data set");
  }
  if (!(options.validation_fraction >= 0 &&
        options.validation_fraction <= 0.5)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--validation must be 0 to 0.5, not ", options.validation_fraction));
  }
  if (options.tokenizer.empty() && !options.document_end.empty()) {
    return absl::InvalidArgumentError(
        "--document-end is a token of a --tokenizer; name one");
  }
  return absl::OkStatus();
}

// The encoding, and the file that says what it is, empty for bytes.
struct Encoding {
  std::unique_ptr<data::TextCodec> codec;
  std::string tokenizer_json;
};

absl::StatusOr<std::optional<int32_t>> FindDocumentEnd(
    const data::Tokenizer& tokenizer, const DataPrepareOptions& options) {
  if (options.document_end == "none") return std::optional<int32_t>();
  const std::optional<int32_t> token =
      options.document_end.empty() ? data::UsualDocumentEnd(tokenizer)
                                   : tokenizer.FindAdded(options.document_end);
  if (!token.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        options.tokenizer, " has no added token ",
        options.document_end.empty() ? "with a usual name for a document's end"
                                     : options.document_end,
        "; name one with --document-end, or none"));
  }
  return token;
}

absl::StatusOr<Encoding> OpenEncoding(const DataPrepareOptions& options,
                                      const runtime::Files& files) {
  if (options.tokenizer.empty()) return Encoding{data::MakeByteCodec(), ""};
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                          files.Read(options.tokenizer));
  Encoding encoding;
  encoding.tokenizer_json.assign(reinterpret_cast<const char*>(bytes.data()),
                                 bytes.size());
  absl::StatusOr<data::Tokenizer> tokenizer =
      data::ParseTokenizerJson(encoding.tokenizer_json);
  if (!tokenizer.ok()) return Annotate(tokenizer.status(), options.tokenizer);
  SKERRY_ASSIGN_OR_RETURN(const std::optional<int32_t> end,
                          FindDocumentEnd(*tokenizer, options));
  SKERRY_ASSIGN_OR_RETURN(encoding.codec,
                          data::MakeTokenizerCodec(*std::move(tokenizer), end));
  return encoding;
}

absl::Status AddDocuments(const std::vector<std::string_view>& documents,
                          data::Split split, data::TextCodec& codec,
                          DataSetWriter& writer) {
  constexpr size_t kDocumentBytesMax = 0xffff'0000;
  for (const std::string_view document : documents) {
    if (document.size() > kDocumentBytesMax) {
      return absl::InvalidArgumentError(
          "a document is longer than 4 GiB; cut it in several files");
    }
    codec.AppendDocument(document, writer.tokens());
    SKERRY_RETURN_IF_ERROR(writer.Flush(split));
  }
  return writer.End(split);
}

std::string Joined(const std::vector<std::string_view>& documents) {
  std::string text;
  for (const std::string_view document : documents) text += document;
  return text;
}

absl::Status ReportEntropy(const DocumentSplits& splits, std::ostream& out) {
  const std::string validation = Joined(splits.validation);
  if (validation.size() < 3) return absl::OkStatus();
  SKERRY_ASSIGN_OR_RETURN(
      const data::NgramEntropy entropy,
      data::MeasureNgramEntropy(Joined(splits.training), validation));
  out << absl::StrFormat("validation, nats a byte: bigram %.4f, trigram %.4f\n",
                         entropy.bigram, entropy.trigram);
  return absl::OkStatus();
}

uint64_t BytesIn(const std::vector<std::string_view>& documents) {
  uint64_t bytes = 0;
  for (const std::string_view document : documents) bytes += document.size();
  return bytes;
}

}  // namespace

absl::Status DataPrepare(const DataPrepareOptions& options,
                         runtime::Files& files, std::ostream& out) {
  SKERRY_RETURN_IF_ERROR(ValidateOptions(options));
  SKERRY_ASSIGN_OR_RETURN(const Encoding encoding,
                          OpenEncoding(options, files));
  const bool is_bytes = encoding.tokenizer_json.empty();
  SKERRY_ASSIGN_OR_RETURN(const std::vector<Document> documents,
                          ReadDocuments(options.inputs, options.json_key,
                                        is_bytes ? "\n" : "", files));
  const DocumentSplits splits =
      SplitDocuments(documents, options.validation_fraction);
  const uint64_t bytes = BytesIn(splits.training) + BytesIn(splits.validation);
  if (BytesIn(splits.training) == 0 ||
      (options.validation_fraction > 0 && BytesIn(splits.validation) == 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the text has ", bytes, " bytes, too few to be split"));
  }
  data::TextCodec& codec = *encoding.codec;
  SKERRY_ASSIGN_OR_RETURN(
      DataSetWriter writer,
      DataSetWriter::Open(options.output_directory, options.shard_tokens_max,
                          codec.vocab_size(), files));
  SKERRY_RETURN_IF_ERROR(
      AddDocuments(splits.training, data::Split::kTrain, codec, writer));
  SKERRY_RETURN_IF_ERROR(
      AddDocuments(splits.validation, data::Split::kValidation, codec, writer));
  const std::string_view name =
      is_bytes ? data::kByteTokenizerName : data::kTokenizerFile;
  SKERRY_ASSIGN_OR_RETURN(
      const data::Manifest manifest,
      writer.Finish(
          {std::string(name), encoding.tokenizer_json, codec.document_end()}));
  out << DataSetLine(options.output_directory, manifest);
  if (is_bytes) return ReportEntropy(splits, out);
  const uint64_t tokens = data::TokenCount(manifest, data::Split::kTrain) +
                          data::TokenCount(manifest, data::Split::kValidation);
  out << absl::StrFormat(
      "%.3f bytes a token\n",
      static_cast<double>(bytes) / static_cast<double>(tokens));
  return absl::OkStatus();
}

}  // namespace skerry::cli
