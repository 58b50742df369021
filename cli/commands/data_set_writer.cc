#include "cli/commands/data_set_writer.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/sha256.h"
#include "base/status.h"
#include "data/token_shard.h"

namespace skerry::cli {
namespace {

std::span<const std::byte> BytesOf(const std::string& content) {
  return std::as_bytes(std::span(content.data(), content.size()));
}

absl::string_view Absl(std::string_view text) {
  return {text.data(), text.size()};
}

}  // namespace

DataSetWriter::DataSetWriter(std::string directory, uint64_t shard_tokens_max,
                             int vocab_size, runtime::Files& files)
    : directory_(std::move(directory)),
      shard_tokens_max_(shard_tokens_max),
      files_(&files) {
  manifest_.vocab_size = vocab_size;
}

absl::StatusOr<DataSetWriter> DataSetWriter::Open(std::string directory,
                                                  uint64_t shard_tokens_max,
                                                  int vocab_size,
                                                  runtime::Files& files) {
  if (shard_tokens_max < 1 || shard_tokens_max > data::kTokenShardTokensMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("a shard has 1 to ", data::kTokenShardTokensMax,
                     " tokens, not ", shard_tokens_max));
  }
  DataSetWriter writer(std::move(directory), shard_tokens_max, vocab_size,
                       files);
  SKERRY_RETURN_IF_ERROR(files.MakeDirectory(writer.directory_));
  const auto found = files.Read(writer.PathOf(data::kManifestFile));
  if (absl::IsNotFound(found.status())) return writer;
  SKERRY_RETURN_IF_ERROR(found.status());
  auto manifest = data::ParseManifest(
      {reinterpret_cast<const char*>(found->data()), found->size()});
  if (!manifest.ok()) return writer.IsAnother();
  writer.found_ = *std::move(manifest);
  return writer;
}

std::string DataSetWriter::NextFile(data::Split split) const {
  return absl::StrFormat("%s_%06d.bin", Absl(data::SplitName(split)),
                         next_number_[split == data::Split::kTrain ? 0 : 1]);
}

void DataSetWriter::Take(data::ShardEntry entry) {
  ++next_number_[entry.split == data::Split::kTrain ? 0 : 1];
  manifest_.shards.push_back(std::move(entry));
}

absl::Status DataSetWriter::Write(data::Split split, bool all) {
  std::optional<data::ShardEntry> written;
  do {
    SKERRY_ASSIGN_OR_RETURN(written, WriteShard(split, all));
  } while (written.has_value());
  return absl::OkStatus();
}

absl::StatusOr<std::optional<data::ShardEntry>> DataSetWriter::WriteShard(
    data::Split split, bool all) {
  const bool is_full = tokens_.size() >= shard_tokens_max_;
  if (!is_full && (!all || tokens_.empty())) {
    return std::optional<data::ShardEntry>();
  }
  const auto tokens = std::span<const int32_t>(tokens_).first(
      std::min<uint64_t>(tokens_.size(), shard_tokens_max_));
  SKERRY_ASSIGN_OR_RETURN(const std::string shard,
                          data::EncodeShardOf(tokens, manifest_.vocab_size));
  data::ShardEntry entry = {.file = NextFile(split),
                            .tokens = tokens.size(),
                            .sha256 = Sha256Hex(BytesOf(shard)),
                            .split = split};
  const size_t index = manifest_.shards.size();
  if (found_.has_value() &&
      (index >= found_->shards.size() || !(found_->shards[index] == entry))) {
    return IsAnother();
  }
  SKERRY_RETURN_IF_ERROR(
      files_->WriteDurably(PathOf(entry.file), BytesOf(shard)));
  tokens_.erase(tokens_.begin(), tokens_.begin() + std::ssize(tokens));
  Take(entry);
  return std::optional<data::ShardEntry>(std::move(entry));
}

absl::StatusOr<data::Manifest> DataSetWriter::Finish(
    const Tokenizer& tokenizer) {
  manifest_.tokenizer = tokenizer.name;
  if (!tokenizer.bytes.empty()) {
    manifest_.tokenizer_sha256 = Sha256Hex(BytesOf(tokenizer.bytes));
  }
  manifest_.document_end = tokenizer.document_end;
  if (found_.has_value() && !(*found_ == manifest_)) return IsAnother();
  if (!tokenizer.bytes.empty()) {
    SKERRY_RETURN_IF_ERROR(files_->WriteDurably(PathOf(manifest_.tokenizer),
                                                BytesOf(tokenizer.bytes)));
  }
  const std::string json = data::SerializeManifest(manifest_);
  SKERRY_RETURN_IF_ERROR(
      files_->WriteDurably(PathOf(data::kManifestFile), BytesOf(json)));
  return manifest_;
}

std::string DataSetWriter::PathOf(std::string_view file) const {
  return absl::StrCat(directory_, "/", Absl(file));
}

absl::Status DataSetWriter::IsAnother() const {
  return absl::AlreadyExistsError(
      absl::StrCat(PathOf(data::kManifestFile),
                   " describes another data set; choose another directory"));
}

std::string DataSetLine(const std::string& directory,
                        const data::Manifest& manifest) {
  return absl::StrFormat(
      "%s: %d training and %d validation tokens in %d shards, "
      "tokenizer %s, vocabulary %d\n",
      directory, data::TokenCount(manifest, data::Split::kTrain),
      data::TokenCount(manifest, data::Split::kValidation),
      manifest.shards.size(), manifest.tokenizer, manifest.vocab_size);
}

}  // namespace skerry::cli
