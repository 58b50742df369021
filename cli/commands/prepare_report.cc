#include "cli/commands/prepare_report.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"
#include "data/byte_tokenizer.h"
#include "data/kept_bytes.h"
#include "data/manifest.h"
#include "data/ngram_entropy.h"
#include "data/prepare/data_set_writer.h"
#include "data/prepare/input_reader.h"
#include "data/prepare/prepare_inputs.h"
#include "data/prepare/text_units.h"
#include "data/token_shard.h"
#include "data/tokenizer/text_codec.h"

namespace skerry::cli {
namespace {

// Text of a split that is looked at, at most.
constexpr uint64_t kEntropyBytesMax = uint64_t{1} << 30;
constexpr size_t kPieceBytes = size_t{1} << 18;
// Text that is encoded and decoded to see what comes back, and the share of it
// below which something is wrong.
constexpr size_t kSampleBytes = size_t{1} << 18;
constexpr double kShareMin = 0.99;

// Hands over the first so many bytes of a split of byte tokens, in pieces.
template <typename Take>
absl::Status ReadSplit(const std::string& directory,
                       const data::PreparedSet& set, data::Split split,
                       const runtime::Files& files, Take take) {
  uint64_t left = kEntropyBytesMax;
  std::vector<std::byte> bytes(kPieceBytes);
  std::string text;
  for (const data::ShardEntry& entry : set.manifest.shards) {
    if (entry.split != split || left == 0) continue;
    SKERRY_ASSIGN_OR_RETURN(
        const std::unique_ptr<runtime::ByteSource> source,
        files.Open(absl::StrCat(directory, "/", entry.file)));
    uint64_t at = 0;
    while (left > 0) {
      SKERRY_ASSIGN_OR_RETURN(const size_t count, source->Read(bytes));
      if (count == 0) break;
      text.clear();
      // The low byte of each token, behind the header.
      for (size_t i = 0; i < count; ++i, ++at) {
        if (at >= data::kTokenShardHeaderBytes && at % 2 == 0) {
          text += static_cast<char>(bytes[i]);
        }
      }
      text.resize(std::min<uint64_t>(text.size(), left));
      left -= text.size();
      take(text);
    }
  }
  return absl::OkStatus();
}

absl::Status ReportEntropy(const std::string& directory,
                           const data::PreparedSet& set,
                           const runtime::Files& files, std::ostream& out) {
  constexpr uint64_t kHeldOutMin = 3;
  if (data::TokenCount(set.manifest, data::Split::kValidation) < kHeldOutMin) {
    return absl::OkStatus();
  }
  data::NgramMeter meter;
  SKERRY_RETURN_IF_ERROR(
      ReadSplit(directory, set, data::Split::kTrain, files,
                [&](std::string_view text) { meter.Train(text); }));
  SKERRY_RETURN_IF_ERROR(
      ReadSplit(directory, set, data::Split::kValidation, files,
                [&](std::string_view text) { meter.HoldOut(text); }));
  SKERRY_ASSIGN_OR_RETURN(const data::NgramEntropy entropy, meter.Measure());
  out << absl::StrFormat("validation, nats a byte: bigram %.4f, trigram %.4f\n",
                         entropy.bigram, entropy.trigram);
  return absl::OkStatus();
}

void ReportDocuments(const data::PreparedSet& set, std::ostream& out) {
  data::JsonLineCounts lines;
  std::string first;
  for (const data::PrepareInput& input : set.inputs.inputs) {
    if (first.empty() && input.lines.skipped > 0) {
      first = absl::StrCat(input.file.path, ": ", input.lines.first_skipped);
    }
    lines.Add(input.lines);
  }
  const uint64_t kept = set.inputs.validation_bytes;
  const uint64_t all = set.inputs.training_bytes + kept;
  out << absl::StrFormat(
      "%d documents, %d of them empty; %.2f %% of the text is for validation\n",
      set.inputs.documents(), lines.empty,
      100 * static_cast<double>(kept) / static_cast<double>(all));
  if (lines.skipped > 0) {
    out << lines.skipped << " bad lines were skipped, the first: " << first
        << "\n";
  }
}

uint64_t CountSpecials(std::span<const int32_t> tokens,
                       const data::TextCodec& codec) {
  return static_cast<uint64_t>(
      std::count_if(tokens.begin(), tokens.end(),
                    [&](int32_t token) { return codec.IsSpecial(token); }));
}

// Special tokens that every document has, whatever its text is.
absl::StatusOr<uint64_t> SpecialsAround(data::TextCodec& codec) {
  std::vector<int32_t> tokens;
  SKERRY_RETURN_IF_ERROR(codec.AppendDocument("", tokens));
  return CountSpecials(tokens, codec);
}

// Texts that are written like a special token have become that token.
absl::Status ReportSpecials(const data::PreparedSet& set, std::ostream& out) {
  uint64_t specials = 0;
  for (const data::PreparedShard& shard : set.record.shards) {
    if (!shard.special_tokens.has_value()) return absl::OkStatus();
    specials += *shard.special_tokens;
  }
  SKERRY_ASSIGN_OR_RETURN(const uint64_t each, SpecialsAround(*set.codec));
  const uint64_t marks = each * set.inputs.documents();
  if (specials <= marks) return absl::OkStatus();
  out << specials - marks
      << " special tokens come from texts that are written like them; "
         "--special-tokens as-text keeps them text\n";
  return absl::OkStatus();
}

// The beginning of the first input that has text, as texts.
absl::StatusOr<std::vector<std::string>> SampleOf(
    const data::PrepareInputs& inputs, const data::TextForm& form,
    const runtime::Files& files) {
  std::vector<std::string> texts;
  const auto first = std::find_if(
      inputs.inputs.begin(), inputs.inputs.end(),
      [](const data::PrepareInput& input) { return input.text_bytes > 0; });
  if (first == inputs.inputs.end()) return texts;
  SKERRY_ASSIGN_OR_RETURN(data::InputReader reader,
                          data::OpenInput(*first, files));
  SKERRY_RETURN_IF_ERROR(reader.Fill(kSampleBytes));
  const std::string_view window = reader.window().substr(0, kSampleBytes);
  if (!first->is_json_lines()) {
    texts.emplace_back(window.substr(0, window.rfind(' ')));
    return texts;
  }
  data::JsonLineCounts counts;
  const bool is_all =
      reader.at_end() && window.size() == reader.window().size();
  for (const data::TextUnit& unit :
       data::UnitsIn({window, 0, 1, is_all}, kSampleBytes / 8, 8, nullptr)) {
    SKERRY_RETURN_IF_ERROR(data::ForEachText(
        unit, form,
        [&](data::PlacedText text) { texts.push_back(std::move(text.text)); },
        counts));
  }
  return texts;
}

// A normalizer may leave nothing of line feeds and runs of spaces, so that a
// model never learns to write them.
absl::Status ReportKeptBytes(const data::PreparedSet& set,
                             const runtime::Files& files, std::ostream& out) {
  data::TextCodec& codec = *set.codec;
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::string> texts,
                          SampleOf(set.inputs, set.form, files));
  SKERRY_ASSIGN_OR_RETURN(const uint64_t each, SpecialsAround(codec));
  uint64_t all = 0;
  uint64_t kept = 0;
  for (const std::string& text : texts) {
    std::vector<int32_t> tokens;
    SKERRY_RETURN_IF_ERROR(codec.AppendDocument(text, tokens));
    // Special tokens that the text is written with are told by themselves.
    if (CountSpecials(tokens, codec) > each) continue;
    SKERRY_ASSIGN_OR_RETURN(const std::string decoded, codec.Decode(tokens));
    all += text.size();
    kept += data::KeptBytes(text, decoded);
  }
  if (all == 0) return absl::OkStatus();
  const double share = static_cast<double>(kept) / static_cast<double>(all);
  out << absl::StrFormat(
      "%.2f %% of the bytes of a sample come back%s\n", 100 * share,
      share < kShareMin ? ": the tokenizer drops or changes the rest, "
                          "which no model will write"
                        : "");
  return absl::OkStatus();
}

}  // namespace

absl::Status ReportDataSet(const std::string& directory,
                           const data::PreparedSet& set,
                           const runtime::Files& files, std::ostream& out) {
  out << data::DataSetLine(directory, set.manifest);
  ReportDocuments(set, out);
  if (set.manifest.tokenizer == data::kByteTokenizerName) {
    return ReportEntropy(directory, set, files, out);
  }
  SKERRY_RETURN_IF_ERROR(ReportSpecials(set, out));
  const uint64_t bytes =
      set.inputs.training_bytes + set.inputs.validation_bytes;
  const uint64_t tokens =
      data::TokenCount(set.manifest, data::Split::kTrain) +
      data::TokenCount(set.manifest, data::Split::kValidation);
  out << absl::StrFormat(
      "%.3f bytes a token\n",
      static_cast<double>(bytes) / static_cast<double>(tokens));
  return ReportKeptBytes(set, files, out);
}

}  // namespace skerry::cli
