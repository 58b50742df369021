#include "cli/commands/data_prepare.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/sha256.h"
#include "base/status.h"
#include "cli/commands/documents.h"
#include "data/byte_tokenizer.h"
#include "data/manifest.h"
#include "data/ngram_entropy.h"
#include "data/token_shard.h"
#include "data/tokenizer/text_codec.h"
#include "data/tokenizer/tokenizer_json.h"

namespace skerry::cli {
namespace {

std::string PathIn(const std::string& directory, std::string_view file) {
  return absl::StrCat(directory, "/",
                      absl::string_view(file.data(), file.size()));
}

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
  if (options.shard_tokens_max < 1 ||
      options.shard_tokens_max > data::kTokenShardTokensMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("a shard has 1 to ", data::kTokenShardTokensMax,
                     " tokens, not ", options.shard_tokens_max));
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

struct Part {
  std::string bytes;
  data::ShardEntry entry;
};

std::span<const std::byte> BytesOf(const std::string& content) {
  return std::as_bytes(std::span(content.data(), content.size()));
}

// The shards of one split.
class ShardWriter {
 public:
  ShardWriter(data::Split split, uint64_t shard_tokens_max, int vocab_size,
              std::vector<Part>& parts)
      : split_(split),
        shard_tokens_max_(shard_tokens_max),
        vocab_size_(vocab_size),
        parts_(parts) {}

  // Where tokens are appended; Flush takes them.
  std::vector<int32_t>& tokens() { return tokens_; }

  // Makes full shards of what there is, and of the rest too when `all`.
  absl::Status Flush(bool all) {
    std::span<const int32_t> left = tokens_;
    while (left.size() >= shard_tokens_max_ || (all && !left.empty())) {
      const size_t count = std::min<uint64_t>(left.size(), shard_tokens_max_);
      SKERRY_RETURN_IF_ERROR(Add(left.first(count)));
      left = left.subspan(count);
    }
    tokens_.erase(tokens_.begin(), tokens_.end() - std::ssize(left));
    return absl::OkStatus();
  }

 private:
  absl::Status Add(std::span<const int32_t> tokens) {
    SKERRY_ASSIGN_OR_RETURN(std::string shard,
                            data::EncodeShardOf(tokens, vocab_size_));
    const std::string_view name = data::SplitName(split_);
    data::ShardEntry entry = {
        .file = absl::StrFormat("%s_%06d.bin",
                                absl::string_view(name.data(), name.size()),
                                number_++),
        .tokens = tokens.size(),
        .sha256 = Sha256Hex(BytesOf(shard)),
        .split = split_};
    parts_.push_back({std::move(shard), std::move(entry)});
    return absl::OkStatus();
  }

  const data::Split split_;
  const uint64_t shard_tokens_max_;
  const int vocab_size_;
  std::vector<Part>& parts_;
  std::vector<int32_t> tokens_;
  int number_ = 0;
};

absl::Status AddParts(const std::vector<std::string_view>& documents,
                      data::Split split, const DataPrepareOptions& options,
                      data::TextCodec& codec, std::vector<Part>& parts) {
  constexpr size_t kDocumentBytesMax = 0xffff'0000;
  ShardWriter writer(split, options.shard_tokens_max, codec.vocab_size(),
                     parts);
  for (const std::string_view document : documents) {
    if (document.size() > kDocumentBytesMax) {
      return absl::InvalidArgumentError(
          "a document is longer than 4 GiB; cut it in several files");
    }
    codec.AppendDocument(document, writer.tokens());
    SKERRY_RETURN_IF_ERROR(writer.Flush(/*all=*/false));
  }
  return writer.Flush(/*all=*/true);
}

void Report(const data::Manifest& manifest, const DataPrepareOptions& options,
            std::ostream& out) {
  out << absl::StrFormat(
      "%s: %d training and %d validation tokens in %d shards, "
      "tokenizer %s, vocabulary %d\n",
      options.output_directory, data::TokenCount(manifest, data::Split::kTrain),
      data::TokenCount(manifest, data::Split::kValidation),
      manifest.shards.size(), manifest.tokenizer, manifest.vocab_size);
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

// Whether another data set is in the way.
absl::Status CheckManifest(const std::string& path, const std::string& json,
                           const runtime::Files& files) {
  const auto found = files.Read(path);
  if (absl::IsNotFound(found.status())) return absl::OkStatus();
  SKERRY_RETURN_IF_ERROR(found.status());
  const auto bytes = BytesOf(json);
  if (std::equal(found->begin(), found->end(), bytes.begin(), bytes.end())) {
    return absl::OkStatus();
  }
  return absl::AlreadyExistsError(absl::StrCat(
      path, " describes another data set; choose another directory"));
}

absl::Status WriteAll(const std::vector<Part>& parts,
                      const data::Manifest& manifest,
                      const std::string& tokenizer_json,
                      const DataPrepareOptions& options,
                      runtime::Files& files) {
  const std::string& directory = options.output_directory;
  const std::string path = PathIn(directory, data::kManifestFile);
  const std::string json = data::SerializeManifest(manifest);
  SKERRY_RETURN_IF_ERROR(files.MakeDirectory(directory));
  // Before anything is written: a shard of the other set may have our name.
  SKERRY_RETURN_IF_ERROR(CheckManifest(path, json, files));
  for (const Part& part : parts) {
    SKERRY_RETURN_IF_ERROR(files.WriteDurably(
        PathIn(directory, part.entry.file), BytesOf(part.bytes)));
  }
  if (!tokenizer_json.empty()) {
    SKERRY_RETURN_IF_ERROR(files.WriteDurably(
        PathIn(directory, manifest.tokenizer), BytesOf(tokenizer_json)));
  }
  return files.WriteDurably(path, BytesOf(json));
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
  std::vector<Part> parts;
  SKERRY_RETURN_IF_ERROR(
      AddParts(splits.training, data::Split::kTrain, options, codec, parts));
  SKERRY_RETURN_IF_ERROR(AddParts(splits.validation, data::Split::kValidation,
                                  options, codec, parts));
  data::Manifest manifest{
      .tokenizer = std::string(is_bytes ? data::kByteTokenizerName
                                        : data::kTokenizerFile),
      .tokenizer_sha256 =
          is_bytes ? "" : Sha256Hex(BytesOf(encoding.tokenizer_json)),
      .document_end = codec.document_end(),
      .vocab_size = codec.vocab_size(),
      .shards = {}};
  uint64_t tokens = 0;
  for (const Part& part : parts) {
    manifest.shards.push_back(part.entry);
    tokens += part.entry.tokens;
  }
  SKERRY_RETURN_IF_ERROR(
      WriteAll(parts, manifest, encoding.tokenizer_json, options, files));
  Report(manifest, options, out);
  if (is_bytes) return ReportEntropy(splits, out);
  out << absl::StrFormat(
      "%.3f bytes a token\n",
      static_cast<double>(bytes) / static_cast<double>(tokens));
  return absl::OkStatus();
}

}  // namespace skerry::cli
