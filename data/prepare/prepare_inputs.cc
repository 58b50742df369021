#include "data/prepare/prepare_inputs.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "data/prepare/validation_cut.h"

namespace skerry::data {
namespace {

constexpr size_t kUnitsPerThread = 8;

// A place in JSON lines where a line begins, and the bytes of text before it.
struct Mark {
  uint64_t byte = 0;
  uint64_t text = 0;
};

struct Scanned {
  PrepareInput input;
  std::vector<Mark> marks;
};

class Scan {
 public:
  Scan(const ScanOptions& options, const runtime::Files& files,
       ParallelExecutor& executor)
      : options_(options), files_(files), executor_(executor) {}

  absl::StatusOr<Scanned> Read(const InputFile& file) const;
  absl::StatusOr<Cut> FindCut(const Scanned& scanned,
                              const CutOptions& cut) const;

 private:
  absl::Status ReadText(InputReader& reader, Scanned& scanned) const;
  absl::Status ReadLines(InputReader& reader, Scanned& scanned) const;
  absl::Status CountUnits(std::span<const TextUnit> units,
                          Scanned& scanned) const;

  const ScanOptions& options_;
  const runtime::Files& files_;
  ParallelExecutor& executor_;
};

absl::StatusOr<Scanned> Scan::Read(const InputFile& file) const {
  SKERRY_ASSIGN_OR_RETURN(
      InputReader reader,
      InputReader::Open(file.path, file.file, options_.kind, files_));
  Scanned scanned;
  scanned.input.file = file;
  scanned.input.kind = reader.kind();
  scanned.input.packing = reader.packing();
  SKERRY_RETURN_IF_ERROR(scanned.input.is_json_lines()
                             ? ReadLines(reader, scanned)
                             : ReadText(reader, scanned));
  scanned.input.bytes = reader.position();
  scanned.input.sha256 = reader.Digest();
  return scanned;
}

absl::Status Scan::ReadText(InputReader& reader, Scanned& scanned) const {
  do {
    SKERRY_RETURN_IF_ERROR(reader.Fill(options_.unit_bytes));
    reader.Drop(reader.window().size());
  } while (!reader.at_end());
  scanned.input.text_bytes = reader.position();
  return absl::OkStatus();
}

absl::Status Scan::ReadLines(InputReader& reader, Scanned& scanned) const {
  const size_t batch =
      kUnitsPerThread * static_cast<size_t>(executor_.thread_count());
  size_t bytes = batch * options_.unit_bytes;
  while (true) {
    SKERRY_RETURN_IF_ERROR(reader.Fill(bytes));
    if (reader.window().empty()) return absl::OkStatus();
    const std::vector<TextUnit> units = UnitsIn(
        {reader.window(), reader.position(), reader.line(), reader.at_end()},
        options_.unit_bytes, batch, nullptr);
    if (units.empty()) {
      bytes = reader.window().size() * 2;
      if (bytes > kDocumentBytesMax * 2) {
        return Annotate(DocumentTooLong(), reader.path());
      }
      continue;
    }
    bytes = batch * options_.unit_bytes;
    scanned.marks.push_back({units[0].begin, scanned.input.text_bytes});
    const absl::Status counted = CountUnits(units, scanned);
    if (!counted.ok()) return Annotate(counted, reader.path());
    reader.Drop(static_cast<size_t>(units.back().end() - units[0].begin));
  }
}

absl::Status Scan::CountUnits(std::span<const TextUnit> units,
                              Scanned& scanned) const {
  std::vector<uint64_t> bytes(units.size());
  std::vector<JsonLineCounts> counts(units.size());
  std::vector<absl::Status> read(units.size());
  executor_.ForEach(units.size(), [&](size_t i) {
    read[i] = ForEachText(
        units[i], options_.form,
        [&](PlacedText text) { bytes[i] += text.text.size(); }, counts[i]);
  });
  for (size_t i = 0; i < units.size(); ++i) {
    SKERRY_RETURN_IF_ERROR(read[i]);
    scanned.input.text_bytes += bytes[i];
    scanned.input.lines.Add(counts[i]);
  }
  return absl::OkStatus();
}

absl::StatusOr<Cut> Scan::FindCut(const Scanned& scanned,
                                  const CutOptions& cut) const {
  SKERRY_ASSIGN_OR_RETURN(InputReader reader, OpenInput(scanned.input, files_));
  if (!scanned.input.is_json_lines()) return CutText(reader, cut);
  Mark mark;
  for (const Mark& one : scanned.marks) {
    if (one.text < cut.wanted) mark = one;
  }
  SKERRY_RETURN_IF_ERROR(reader.SkipTo(mark.byte));
  return CutJsonLines(reader, mark.text, options_.form, cut);
}

// Finds the cut that lies `wanted` bytes of text into the inputs.
absl::Status Place(const Scan& scan, std::span<const Scanned> scanned,
                   uint64_t wanted, uint64_t tolerance, PrepareInputs& all) {
  const auto has_text = [](const Scanned& one) {
    return one.input.text_bytes > 0;
  };
  for (size_t i = 0; i < scanned.size(); ++i) {
    const uint64_t text_bytes = scanned[i].input.text_bytes;
    if (wanted >= text_bytes) {
      wanted -= text_bytes;
      all.training_bytes += text_bytes;
      continue;
    }
    all.validation.place = {i, 0};
    if (wanted == 0) return absl::OkStatus();
    const auto after = scanned.subspan(i + 1);
    SKERRY_ASSIGN_OR_RETURN(
        const Cut cut,
        scan.FindCut(scanned[i], {.wanted = wanted,
                                  .all = text_bytes,
                                  .tolerance = tolerance,
                                  .has_text_before = all.training_bytes > 0,
                                  .has_text_after = std::any_of(
                                      after.begin(), after.end(), has_text)}));
    all.validation = {{i, cut.byte}, cut.torn, cut.training_end};
    all.training_bytes += cut.text;
    all.splits_as_before = cut.is_as_before;
    return absl::OkStatus();
  }
  all.validation.place = {scanned.size(), 0};
  return absl::OkStatus();
}

absl::Status TooShort(const PrepareInputs& all, uint64_t total) {
  std::string text = absl::StrCat(
      "the inputs have ", total, " bytes of text, too few to be split; give ",
      total == 0 ? "files that have some"
                 : "more, or --validation 0 for none to validate with");
  for (const PrepareInput& input : all.inputs) {
    if (input.lines.skipped == 0) continue;
    absl::StrAppend(&text, "; ", input.lines.skipped, " bad lines of ",
                    input.file.path,
                    " were skipped, the first: ", input.lines.first_skipped);
    break;
  }
  return absl::InvalidArgumentError(text);
}

}  // namespace

uint64_t PrepareInputs::documents() const {
  uint64_t sum = validation.text > 0 ? 1 : 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const PrepareInput& input = inputs[i];
    if (input.is_json_lines()) {
      sum += input.lines.documents;
      continue;
    }
    const InputPlace cut = validation.place;
    const bool is_cut =
        i == cut.input && cut.byte > 0 && cut.byte < input.bytes;
    sum += (input.bytes > 0 ? 1 : 0) + (is_cut ? 1 : 0);
  }
  return sum;
}

uint64_t SplitTolerance(uint64_t total, uint64_t wanted) {
  constexpr uint64_t kBytes = 4096;
  return std::max(wanted / 4, std::min(kBytes, total / 8));
}

absl::StatusOr<PrepareInputs> ScanInputs(std::span<const InputFile> files_given,
                                         const ScanOptions& options,
                                         const runtime::Files& files,
                                         ParallelExecutor& executor) {
  const Scan scan(options, files, executor);
  std::vector<Scanned> scanned;
  uint64_t total = 0;
  for (const InputFile& file : files_given) {
    SKERRY_ASSIGN_OR_RETURN(Scanned one, scan.Read(file));
    total += one.input.text_bytes;
    scanned.push_back(std::move(one));
  }
  PrepareInputs all;
  const auto kept = static_cast<uint64_t>(static_cast<double>(total) *
                                          options.validation_fraction);
  SKERRY_RETURN_IF_ERROR(
      Place(scan, scanned, total - kept, SplitTolerance(total, kept), all));
  all.validation_bytes = total - all.training_bytes;
  for (Scanned& one : scanned) all.inputs.push_back(std::move(one.input));
  if (all.training_bytes == 0 ||
      (options.validation_fraction > 0 && all.validation_bytes == 0)) {
    return TooShort(all, total);
  }
  return all;
}

absl::StatusOr<InputReader> OpenInput(const PrepareInput& input,
                                      const runtime::Files& files) {
  return InputReader::Open(input.file.path, input.file.file, input.kind, files);
}

absl::Status HasChanged(const PrepareInput& input) {
  return absl::FailedPreconditionError(absl::StrCat(
      input.file.path, " has changed while it was read; start again"));
}

}  // namespace skerry::data
