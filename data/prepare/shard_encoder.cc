#include "data/prepare/shard_encoder.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace skerry::data {
namespace {

// A batch is so many units a thread, so that none waits long for the others.
constexpr size_t kUnitsPerThread = 8;

std::span<const std::byte> BytesOf(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace

ShardEncoder::ShardEncoder(Options options, const PrepareInputs& inputs,
                           const TextCodec& codec, UnitEncoder& units,
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
  // With its line that is torn, training may end behind where validation
  // begins.
  if (begin_split_ == Split::kTrain) {
    SKERRY_RETURN_IF_ERROR(EncodeSplit(Split::kTrain));
  }
  return EncodeSplit(Split::kValidation);
}

Stretch ShardEncoder::StretchOf(Split split, size_t input) const {
  const InputPlace cut = inputs_.validation.place;
  const PrepareInput& file = inputs_.inputs[input];
  Stretch stretch{.is_json_lines = file.is_json_lines(), .end = file.bytes};
  if (input == cut.input && inputs_.validation.text > 0) {
    stretch.tear = Tear{cut.byte, inputs_.validation.text};
    stretch.has_rest = split == Split::kValidation;
  }
  if (split == Split::kTrain) {
    if (input > cut.input) stretch.end = 0;
    if (input == cut.input) stretch.end = inputs_.validation.training_end;
  } else if (input <= cut.input) {
    stretch.begin = input == cut.input ? cut.byte : file.bytes;
  }
  return stretch;
}

absl::Status ShardEncoder::EncodeSplit(Split split) {
  for (size_t i = begin_.input; i < inputs_.inputs.size(); ++i) {
    const Stretch stretch = StretchOf(split, i);
    uint64_t begin = stretch.begin;
    if (i == begin_.input) begin = std::max(begin, begin_.byte);
    if (begin >= stretch.end) continue;
    const absl::Status encoded = EncodeInput(split, i, stretch, begin);
    // Other errors name their path already.
    if (absl::IsInvalidArgument(encoded)) {
      return Annotate(encoded, inputs_.inputs[i].file.path);
    }
    SKERRY_RETURN_IF_ERROR(encoded);
  }
  return EndSplit(split);
}

// The content is read from its beginning, so that its hash tells whether it is
// what was scanned.
absl::Status ShardEncoder::EncodeInput(Split split, size_t input,
                                       const Stretch& stretch, uint64_t begin) {
  const PrepareInput& file = inputs_.inputs[input];
  auto opened = OpenInput(file, files_);
  // It was no longer what it was, if it could be opened before.
  if (absl::IsInvalidArgument(opened.status())) return HasChanged(file);
  SKERRY_RETURN_IF_ERROR(opened.status());
  InputReader& reader = *opened;
  SKERRY_RETURN_IF_ERROR(reader.SkipTo(begin));
  SKERRY_RETURN_IF_ERROR(EncodeStretch(split, input, stretch, reader));
  if (reader.position() < file.bytes) return absl::OkStatus();
  SKERRY_RETURN_IF_ERROR(reader.Fill(1));
  const bool is_same = reader.at_end() && reader.window().empty() &&
                       reader.Digest() == file.sha256;
  return is_same ? absl::OkStatus() : HasChanged(file);
}

size_t ShardEncoder::BatchUnits() const {
  return kUnitsPerThread * static_cast<size_t>(options_.threads);
}

absl::StatusOr<std::vector<TextUnit>> ShardEncoder::NextUnits(
    size_t input, const Stretch& stretch, InputReader& reader) {
  const uint64_t left = stretch.end - reader.position();
  uint64_t bytes = BatchUnits() * options_.unit_bytes;
  while (true) {
    SKERRY_RETURN_IF_ERROR(reader.Fill(std::min(bytes, left)));
    const std::string_view window =
        reader.window().substr(0, static_cast<size_t>(left));
    const bool is_last = window.size() == left;
    if (!is_last && reader.at_end()) return HasChanged(inputs_.inputs[input]);
    std::vector<TextUnit> units =
        UnitsIn({window, reader.position(), reader.line(), is_last},
                options_.unit_bytes, BatchUnits(),
                stretch.is_json_lines ? nullptr : &codec_);
    if (!units.empty()) return units;
    if (bytes > kDocumentBytesMax) return DocumentTooLong();
    bytes = std::max<uint64_t>(bytes, window.size()) * 2;
  }
}

absl::Status ShardEncoder::EncodeStretch(Split split, size_t input,
                                         const Stretch& stretch,
                                         InputReader& reader) {
  std::vector<std::vector<int32_t>> tokens;
  while (reader.position() < stretch.end) {
    SKERRY_ASSIGN_OR_RETURN(const std::vector<TextUnit> units,
                            NextUnits(input, stretch, reader));
    SKERRY_RETURN_IF_ERROR(units_.Encode(stretch, units, tokens));
    for (size_t i = 0; i < units.size(); ++i) {
      SKERRY_RETURN_IF_ERROR(
          TakeTokens(split, {input, units[i].begin}, tokens[i]));
      progress_.Add(units[i].bytes.size());
    }
    reader.Drop(static_cast<size_t>(units.back().end() - reader.position()));
  }
  return absl::OkStatus();
}

absl::Status ShardEncoder::TakeTokens(Split split, InputPlace place,
                                      const std::vector<int32_t>& tokens) {
  size_t at = std::min<uint64_t>(in_shards_, tokens.size());
  in_shards_ -= at;
  last_ = place;
  last_tokens_ = tokens.size();
  while (at < tokens.size()) {
    const auto piece = std::span<const int32_t>(tokens).subspan(
        at, std::min<uint64_t>(tokens.size() - at, writer_.room()));
    at += piece.size();
    special_tokens_ += static_cast<uint64_t>(std::count_if(
        piece.begin(), piece.end(),
        [this](int32_t token) { return codec_.IsSpecial(token); }));
    SKERRY_ASSIGN_OR_RETURN(std::optional<ShardEntry> entry,
                            writer_.Append(split, piece));
    if (entry.has_value()) SKERRY_RETURN_IF_ERROR(Note(*std::move(entry), at));
  }
  return absl::OkStatus();
}

absl::Status ShardEncoder::EndSplit(Split split) {
  if (in_shards_ > 0 && split == begin_split_) {
    return absl::DataLossError(
        absl::StrCat(options_.record_path,
                     " counts tokens that the inputs do not have; "
                     "remove it"));
  }
  SKERRY_ASSIGN_OR_RETURN(std::optional<ShardEntry> entry, writer_.End(split));
  if (!entry.has_value()) return absl::OkStatus();
  return Note(*std::move(entry), last_tokens_);
}

absl::Status ShardEncoder::Note(ShardEntry entry, uint64_t tokens) {
  record_.shards.push_back(
      {std::move(entry), last_, tokens, std::exchange(special_tokens_, 0)});
  return SaveRecord();
}

absl::Status ShardEncoder::SaveRecord() {
  if (options_.record_path.empty()) return absl::OkStatus();
  return files_.WriteDurably(options_.record_path,
                             BytesOf(SerializePrepareRecord(record_)));
}

absl::StatusOr<std::vector<PreparedShard>> TakeFinishedShards(
    const std::vector<PreparedShard>& shards, DataSetWriter& writer) {
  std::vector<PreparedShard> finished;
  for (const PreparedShard& shard : shards) {
    const ShardEntry& entry = shard.entry;
    if (writer.NextFile(entry.split) != entry.file) break;
    SKERRY_ASSIGN_OR_RETURN(const bool is_there, writer.IsThere(entry));
    if (!is_there) break;
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

}  // namespace skerry::data
