#include "data/prepare/data_set_writer.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/sha256.h"
#include "base/status.h"
#include "data/token_shard.h"
#include "data/tokenizer_config.h"

namespace skerry::data {
namespace {

constexpr size_t kPieceBytes = size_t{1} << 18;
constexpr size_t kPieceTokens = size_t{1} << 16;

std::span<const std::byte> BytesOf(const std::string& content) {
  return std::as_bytes(std::span(content.data(), content.size()));
}

absl::string_view Absl(std::string_view text) {
  return {text.data(), text.size()};
}

// Whether `name` is one that NextFile makes.
bool IsShardName(std::string_view name) {
  constexpr std::string_view kEnding = ".bin";
  constexpr size_t kDigitsMin = 6;
  for (const Split split : {Split::kTrain, Split::kValidation}) {
    const std::string prefix = absl::StrCat(Absl(SplitName(split)), "_");
    if (!name.starts_with(prefix) || !name.ends_with(kEnding)) continue;
    if (name.size() < prefix.size() + kDigitsMin + kEnding.size()) continue;
    const std::string_view number = name.substr(
        prefix.size(), name.size() - prefix.size() - kEnding.size());
    return number.find_first_not_of("0123456789") == number.npos;
  }
  return false;
}

bool IsName(std::string_view name) {
  return IsShardName(name) || name == kManifestFile ||
         name == kPrepareRecordFile || name == kTokenizerJsonFile ||
         name == kTokenizerModelFile;
}

// The SHA-256 of what `read` gives from each place on until it gives nothing.
struct Digest {
  std::string sha256;
  uint64_t bytes = 0;
};
absl::StatusOr<Digest> DigestOf(
    const std::function<
        absl::StatusOr<size_t>(uint64_t at, std::span<std::byte> out)>& read) {
  std::vector<std::byte> piece(kPieceBytes);
  Sha256 sha256;
  uint64_t bytes = 0;
  while (true) {
    SKERRY_ASSIGN_OR_RETURN(const size_t count, read(bytes, piece));
    if (count == 0) return Digest{std::move(sha256).HexDigest(), bytes};
    sha256.Update(std::span<const std::byte>(piece).first(count));
    bytes += count;
  }
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
  if (shard_tokens_max < 1 || shard_tokens_max > kTokenShardTokensMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("a shard has 1 to ", kTokenShardTokensMax, " tokens, not ",
                     shard_tokens_max));
  }
  DataSetWriter writer(std::move(directory), shard_tokens_max, vocab_size,
                       files);
  SKERRY_RETURN_IF_ERROR(files.MakeDirectory(writer.directory_));
  SKERRY_ASSIGN_OR_RETURN(writer.hold_, files.Hold(writer.directory_,
                                                   "command that makes a "
                                                   "data set"));
  const auto found = files.Read(writer.PathOf(kManifestFile));
  if (!found.ok() && !absl::IsNotFound(found.status())) return found.status();
  if (found.ok()) {
    auto manifest = ParseManifest(
        {reinterpret_cast<const char*>(found->data()), found->size()});
    if (!manifest.ok()) return writer.IsAnother();
    writer.found_ = *std::move(manifest);
    writer.owns_shards_ = true;
  }
  // Not in a folder that is something else.
  SKERRY_RETURN_IF_ERROR(files.RemoveLeftovers(writer.directory_, IsName));
  return writer;
}

absl::Status DataSetWriter::CheckFree(const Tokenizer& tokenizer) const {
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                          files_->List(directory_));
  for (const std::string& name : names) {
    if (IsShardName(name)) return IsInTheWay(name);
    if (tokenizer.bytes.empty() || name != tokenizer.name) continue;
    SKERRY_ASSIGN_OR_RETURN(const std::vector<std::byte> there,
                            files_->Read(PathOf(name)));
    if (!std::ranges::equal(there, BytesOf(tokenizer.bytes))) {
      return IsInTheWay(name);
    }
  }
  return absl::OkStatus();
}

std::string DataSetWriter::NextFile(Split split) const {
  return absl::StrFormat("%s_%06d.bin", Absl(SplitName(split)),
                         next_number_[split == Split::kTrain ? 0 : 1]);
}

absl::StatusOr<bool> DataSetWriter::IsThere(const ShardEntry& entry) const {
  const auto source = files_->Open(PathOf(entry.file));
  if (absl::IsNotFound(source.status())) return false;
  SKERRY_RETURN_IF_ERROR(source.status());
  SKERRY_ASSIGN_OR_RETURN(const Digest digest,
                          DigestOf([&](uint64_t at, std::span<std::byte> out) {
                            return (*source)->Read(out);
                          }));
  return digest.sha256 == entry.sha256 &&
         digest.bytes ==
             kTokenShardHeaderBytes +
                 entry.tokens * ShardTokenBytes(manifest_.vocab_size);
}

void DataSetWriter::Take(ShardEntry entry) {
  ++next_number_[entry.split == Split::kTrain ? 0 : 1];
  manifest_.shards.push_back(std::move(entry));
}

absl::StatusOr<std::optional<ShardEntry>> DataSetWriter::Append(
    Split split, std::span<const int32_t> tokens) {
  std::string bytes;
  if (sink_ == nullptr && !tokens.empty()) {
    SKERRY_ASSIGN_OR_RETURN(sink_, files_->Create(PathOf(NextFile(split))));
    // Overwritten when it is known how many tokens there are.
    bytes = EncodeShardHeader(0, manifest_.vocab_size);
  }
  in_shard_ += tokens.size();
  while (!tokens.empty()) {
    const auto piece = tokens.first(std::min(tokens.size(), kPieceTokens));
    AppendShardTokens(piece, manifest_.vocab_size, bytes);
    SKERRY_RETURN_IF_ERROR(sink_->Append(BytesOf(bytes)));
    bytes.clear();
    tokens = tokens.subspan(piece.size());
  }
  if (in_shard_ < shard_tokens_max_) return std::optional<ShardEntry>();
  return End(split);
}

absl::Status DataSetWriter::AppendAll(Split split,
                                      std::span<const int32_t> tokens) {
  while (!tokens.empty()) {
    const auto piece = tokens.first(std::min<uint64_t>(tokens.size(), room()));
    SKERRY_RETURN_IF_ERROR(Append(split, piece).status());
    tokens = tokens.subspan(piece.size());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<ShardEntry>> DataSetWriter::End(Split split) {
  if (sink_ == nullptr) return std::optional<ShardEntry>();
  SKERRY_RETURN_IF_ERROR(sink_->Overwrite(
      0, BytesOf(EncodeShardHeader(in_shard_, manifest_.vocab_size))));
  SKERRY_ASSIGN_OR_RETURN(Digest digest,
                          DigestOf([&](uint64_t at, std::span<std::byte> out) {
                            return sink_->ReadBack(at, out);
                          }));
  ShardEntry entry = {.file = NextFile(split),
                      .tokens = in_shard_,
                      .sha256 = std::move(digest.sha256),
                      .split = split};
  SKERRY_RETURN_IF_ERROR(Place(entry));
  sink_.reset();
  in_shard_ = 0;
  Take(entry);
  return std::optional<ShardEntry>(std::move(entry));
}

absl::Status DataSetWriter::Place(const ShardEntry& entry) {
  const size_t index = manifest_.shards.size();
  if (found_.has_value() &&
      (index >= found_->shards.size() || !(found_->shards[index] == entry))) {
    return IsAnother();
  }
  const auto there = files_->Open(PathOf(entry.file));
  if (absl::IsNotFound(there.status())) return sink_->Commit();
  SKERRY_RETURN_IF_ERROR(there.status());
  SKERRY_ASSIGN_OR_RETURN(const bool is_there, IsThere(entry));
  if (is_there) return absl::OkStatus();
  return owns_shards_ ? sink_->Commit() : IsInTheWay(entry.file);
}

absl::Status DataSetWriter::PlaceTokenizer(const Tokenizer& tokenizer) {
  const std::string path = PathOf(tokenizer.name);
  const auto there = files_->Read(path);
  if (!there.ok() && !absl::IsNotFound(there.status())) return there.status();
  if (there.ok()) {
    if (std::ranges::equal(*there, BytesOf(tokenizer.bytes))) {
      return absl::OkStatus();
    }
    if (!owns_shards_) return IsInTheWay(tokenizer.name);
  }
  return files_->WriteDurably(path, BytesOf(tokenizer.bytes));
}

absl::StatusOr<Manifest> DataSetWriter::Finish(const Tokenizer& tokenizer) {
  manifest_.tokenizer = tokenizer.name;
  if (!tokenizer.bytes.empty()) {
    manifest_.tokenizer_sha256 = Sha256Hex(BytesOf(tokenizer.bytes));
  }
  manifest_.document_end = tokenizer.document_end;
  if (found_.has_value() && !(*found_ == manifest_)) return IsAnother();
  // A tokenizer may make nothing of a text.
  SKERRY_RETURN_IF_ERROR(ValidateManifest(manifest_));
  if (!tokenizer.bytes.empty()) {
    SKERRY_RETURN_IF_ERROR(PlaceTokenizer(tokenizer));
  }
  if (found_.has_value()) return manifest_;
  const std::string json = SerializeManifest(manifest_);
  SKERRY_RETURN_IF_ERROR(
      files_->WriteDurably(PathOf(kManifestFile), BytesOf(json)));
  return manifest_;
}

std::string DataSetWriter::PathOf(std::string_view file) const {
  return absl::StrCat(directory_, "/", Absl(file));
}

absl::Status DataSetWriter::IsAnother() const {
  return absl::AlreadyExistsError(
      absl::StrCat(PathOf(kManifestFile),
                   " describes another data set; choose another directory"));
}

absl::Status DataSetWriter::IsInTheWay(std::string_view file) const {
  return absl::AlreadyExistsError(
      absl::StrCat(PathOf(file),
                   " is there and is not of this data set; move it away, or "
                   "choose another directory"));
}

std::string DataSetLine(const std::string& directory,
                        const Manifest& manifest) {
  return absl::StrFormat(
      "%s: %d training and %d validation tokens in %d shards, "
      "tokenizer %s, vocabulary %d\n",
      directory, TokenCount(manifest, Split::kTrain),
      TokenCount(manifest, Split::kValidation), manifest.shards.size(),
      manifest.tokenizer, manifest.vocab_size);
}

}  // namespace skerry::data
