#include "cli/commands/data_prepare.h"

#include <algorithm>
#include <ostream>
#include <span>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/sha256.h"
#include "base/status.h"
#include "data/byte_tokenizer.h"
#include "data/manifest.h"
#include "data/ngram_entropy.h"
#include "data/token_shard.h"

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
    return absl::InvalidArgumentError(
        absl::StrCat("--validation-fraction must be 0 to 0.5, not ",
                     options.validation_fraction));
  }
  if (options.shard_tokens_max < 1 ||
      options.shard_tokens_max > data::kTokenShardTokensMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("a shard has 1 to ", data::kTokenShardTokensMax,
                     " tokens, not ", options.shard_tokens_max));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadInputs(const std::vector<std::string>& inputs,
                                       const runtime::Files& files) {
  std::string text;
  for (const std::string& path : inputs) {
    SKERRY_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                            files.Read(path));
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return text;
}

// Where validation begins: `fraction` before the end, moved on to the start of
// a line unless that would leave nothing.
size_t CutAt(std::string_view text, double fraction) {
  const size_t kept =
      static_cast<size_t>(static_cast<double>(text.size()) * fraction);
  const size_t cut = text.size() - kept;
  const size_t line_end = text.find('\n', cut == 0 ? 0 : cut - 1);
  if (line_end == std::string_view::npos || line_end + 1 >= text.size()) {
    return cut;
  }
  return line_end + 1;
}

struct Part {
  std::string_view text;
  data::ShardEntry entry;
};

absl::StatusOr<std::string> ShardOf(std::string_view text) {
  return data::EncodeTokenShard(data::EncodeBytes(text));
}

std::span<const std::byte> BytesOf(const std::string& content) {
  return std::as_bytes(std::span(content.data(), content.size()));
}

// Cuts one split into shards.
absl::Status AddParts(std::string_view text, data::Split split,
                      uint64_t shard_tokens_max, std::vector<Part>& parts) {
  const std::string_view name = data::SplitName(split);
  for (int number = 0; !text.empty(); ++number) {
    const std::string_view part = text.substr(0, shard_tokens_max);
    text.remove_prefix(part.size());
    SKERRY_ASSIGN_OR_RETURN(const std::string shard, ShardOf(part));
    parts.push_back({part,
                     {.file = absl::StrFormat(
                          "%s_%06d.bin",
                          absl::string_view(name.data(), name.size()), number),
                      .tokens = part.size(),
                      .sha256 = Sha256Hex(BytesOf(shard)),
                      .split = split}});
  }
  return absl::OkStatus();
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

absl::Status ReportEntropy(std::string_view training,
                           std::string_view validation, std::ostream& out) {
  if (validation.size() < 3) return absl::OkStatus();
  SKERRY_ASSIGN_OR_RETURN(const data::NgramEntropy entropy,
                          data::MeasureNgramEntropy(training, validation));
  out << absl::StrFormat("validation, nats a byte: bigram %.4f, trigram %.4f\n",
                         entropy.bigram, entropy.trigram);
  return absl::OkStatus();
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
                      const DataPrepareOptions& options,
                      runtime::Files& files) {
  const std::string& directory = options.output_directory;
  const std::string path = PathIn(directory, data::kManifestFile);
  const std::string json = data::SerializeManifest(manifest);
  SKERRY_RETURN_IF_ERROR(files.MakeDirectory(directory));
  // Before anything is written: a shard of the other set may have our name.
  SKERRY_RETURN_IF_ERROR(CheckManifest(path, json, files));
  for (const Part& part : parts) {
    SKERRY_ASSIGN_OR_RETURN(const std::string shard, ShardOf(part.text));
    SKERRY_RETURN_IF_ERROR(
        files.WriteDurably(PathIn(directory, part.entry.file), BytesOf(shard)));
  }
  return files.WriteDurably(path, BytesOf(json));
}

}  // namespace

absl::Status DataPrepare(const DataPrepareOptions& options,
                         runtime::Files& files, std::ostream& out) {
  SKERRY_RETURN_IF_ERROR(ValidateOptions(options));
  SKERRY_ASSIGN_OR_RETURN(const std::string text,
                          ReadInputs(options.inputs, files));
  const size_t cut = options.validation_fraction == 0
                         ? text.size()
                         : CutAt(text, options.validation_fraction);
  const std::string_view training = std::string_view(text).substr(0, cut);
  const std::string_view validation = std::string_view(text).substr(cut);
  if (training.empty() ||
      (options.validation_fraction > 0 && validation.empty())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the text has ", text.size(), " bytes, too few to be split"));
  }
  std::vector<Part> parts;
  SKERRY_RETURN_IF_ERROR(
      AddParts(training, data::Split::kTrain, options.shard_tokens_max, parts));
  SKERRY_RETURN_IF_ERROR(AddParts(validation, data::Split::kValidation,
                                  options.shard_tokens_max, parts));
  data::Manifest manifest{.tokenizer = std::string(data::kByteTokenizerName),
                          .vocab_size = data::kByteVocabSize,
                          .shards = {}};
  for (const Part& part : parts) manifest.shards.push_back(part.entry);
  SKERRY_RETURN_IF_ERROR(WriteAll(parts, manifest, options, files));
  Report(manifest, options, out);
  return ReportEntropy(training, validation, out);
}

}  // namespace skerry::cli
