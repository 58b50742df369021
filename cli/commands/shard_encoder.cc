#include "cli/commands/shard_encoder.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/sha256.h"
#include "base/status.h"
#include "data/token_shard.h"

namespace skerry::cli {
namespace {

// A batch is so many units a thread, so that none waits long for the others.
constexpr size_t kUnitsPerThread = 8;

std::span<const std::byte> BytesOf(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

bool IsThatShard(const data::ShardEntry& entry,
                 const std::vector<std::byte>& bytes) {
  const auto shard = data::TokenShard::Parse(bytes);
  return shard.ok() && shard->size() == entry.tokens &&
         Sha256Hex(bytes) == entry.sha256;
}

}  // namespace

ShardEncoder::ShardEncoder(Options options, const PrepareInputs& inputs,
                           const data::TextCodec& codec, UnitEncoder& units,
                           DataSetWriter& writer, PrepareRecord& record,
                           runtime::Files& files, ByteProgress& progress)
    : options_(std::move(options)),
      inputs_(inputs),
      codec_(codec),
      units_(units),
      writer_(writer),
      record_(record),
      files_(files),
      progress_(progress) {
  if (record_.shards.empty()) return;
  begin_split_ = record_.shards.back().entry.split;
  begin_ = record_.shards.back().place;
  in_shards_ = record_.shards.back().tokens;
}

absl::Status ShardEncoder::Run() {
  if (!record_.shards.empty() &&
      (begin_.input >= inputs_.inputs.size() ||
       begin_.byte >= inputs_.inputs[begin_.input].bytes)) {
    return absl::DataLossError(absl::StrCat(
        options_.record_path, " names a place that no input has; remove it"));
  }
  SKERRY_RETURN_IF_ERROR(SaveRecord());
  SKERRY_RETURN_IF_ERROR(EncodeSplit(data::Split::kTrain));
  return EncodeSplit(data::Split::kValidation);
}

Stretch ShardEncoder::StretchOf(data::Split split, size_t input) const {
  const InputPlace cut = inputs_.validation;
  const PrepareInput& file = inputs_.inputs[input];
  Stretch stretch{
      .file = {}, .is_json_lines = file.is_json_lines, .end = file.bytes};
  if (split == data::Split::kTrain) {
    if (input >= cut.input) stretch.end = input == cut.input ? cut.byte : 0;
  } else if (input <= cut.input) {
    stretch.begin = input == cut.input ? cut.byte : file.bytes;
  }
  return stretch;
}

absl::Status ShardEncoder::EncodeSplit(data::Split split) {
  for (size_t i = begin_.input; i < inputs_.inputs.size(); ++i) {
    Stretch stretch = StretchOf(split, i);
    size_t begin = stretch.begin;
    if (i == begin_.input) begin = std::max<size_t>(begin, begin_.byte);
    if (begin >= stretch.end) continue;
    SKERRY_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                            ReadInput(inputs_.inputs[i], files_));
    stretch.file = TextIn(bytes);
    const absl::Status encoded = EncodeStretch(split, i, stretch, begin);
    // An error of the disk names its path already.
    if (absl::IsInvalidArgument(encoded)) {
      return Annotate(encoded, inputs_.inputs[i].path);
    }
    SKERRY_RETURN_IF_ERROR(encoded);
  }
  return EndSplit(split);
}

absl::Status ShardEncoder::EncodeStretch(data::Split split, size_t input,
                                         const Stretch& stretch, size_t begin) {
  const size_t batch = kUnitsPerThread * static_cast<size_t>(options_.threads);
  std::vector<TextUnit> units;
  std::vector<std::vector<int32_t>> tokens;
  for (size_t at = begin; at < stretch.end;) {
    units.clear();
    while (at < stretch.end && units.size() < batch) {
      units.push_back(UnitAt(stretch, at, options_.unit_bytes, codec_));
      at = units.back().end;
    }
    SKERRY_RETURN_IF_ERROR(units_.Encode(stretch, units, tokens));
    for (size_t i = 0; i < units.size(); ++i) {
      SKERRY_RETURN_IF_ERROR(
          TakeTokens(split, {input, units[i].begin}, tokens[i]));
      progress_.Add(units[i].end - units[i].begin);
    }
  }
  return absl::OkStatus();
}

absl::Status ShardEncoder::TakeTokens(data::Split split, InputPlace place,
                                      const std::vector<int32_t>& tokens) {
  const uint64_t skipped = std::min<uint64_t>(in_shards_, tokens.size());
  in_shards_ -= skipped;
  last_ = place;
  last_tokens_ = tokens.size();
  std::vector<int32_t>& waiting = writer_.tokens();
  const uint64_t waited = waiting.size();
  waiting.insert(waiting.end(),
                 tokens.begin() + static_cast<std::ptrdiff_t>(skipped),
                 tokens.end());
  uint64_t written = 0;
  while (true) {
    SKERRY_ASSIGN_OR_RETURN(std::optional<data::ShardEntry> entry,
                            writer_.WriteShard(split, /*all=*/false));
    if (!entry.has_value()) return absl::OkStatus();
    written += entry->tokens;
    SKERRY_RETURN_IF_ERROR(Note(*std::move(entry), skipped + written - waited));
  }
}

absl::Status ShardEncoder::EndSplit(data::Split split) {
  if (in_shards_ > 0 && split == begin_split_) {
    return absl::DataLossError(
        absl::StrCat(options_.record_path,
                     " counts tokens that the inputs do not have; "
                     "remove it"));
  }
  // Full shards are written, so one is left at most.
  SKERRY_ASSIGN_OR_RETURN(std::optional<data::ShardEntry> entry,
                          writer_.WriteShard(split, /*all=*/true));
  if (!entry.has_value()) return absl::OkStatus();
  return Note(*std::move(entry), last_tokens_);
}

absl::Status ShardEncoder::Note(data::ShardEntry entry, uint64_t tokens) {
  record_.shards.push_back({std::move(entry), last_, tokens});
  return SaveRecord();
}

absl::Status ShardEncoder::SaveRecord() {
  if (options_.record_path.empty()) return absl::OkStatus();
  return files_.WriteDurably(options_.record_path,
                             BytesOf(SerializePrepareRecord(record_)));
}

absl::StatusOr<std::vector<PreparedShard>> TakeFinishedShards(
    const std::string& directory, const std::vector<PreparedShard>& shards,
    const runtime::Files& files, DataSetWriter& writer) {
  std::vector<PreparedShard> finished;
  for (const PreparedShard& shard : shards) {
    const data::ShardEntry& entry = shard.entry;
    if (writer.NextFile(entry.split) != entry.file) break;
    const auto bytes = files.Read(absl::StrCat(directory, "/", entry.file));
    if (absl::IsNotFound(bytes.status())) break;
    SKERRY_RETURN_IF_ERROR(bytes.status());
    if (!IsThatShard(entry, *bytes)) break;
    writer.Take(entry);
    finished.push_back(shard);
  }
  return finished;
}

uint64_t BytesBefore(const PrepareInputs& inputs, InputPlace place) {
  uint64_t bytes = place.byte;
  for (size_t i = 0; i < place.input && i < inputs.inputs.size(); ++i) {
    bytes += inputs.inputs[i].bytes;
  }
  return bytes;
}

}  // namespace skerry::cli
