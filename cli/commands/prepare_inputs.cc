#include "cli/commands/prepare_inputs.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/sha256.h"
#include "base/status.h"

namespace skerry::cli {
namespace {

constexpr size_t kScanBytes = 1 << 20;

absl::StatusOr<uint64_t> CountTextBytes(std::string_view file,
                                        const TextForm& form,
                                        ParallelExecutor& executor) {
  std::vector<TextUnit> units;
  for (size_t at = 0; at < file.size(); at = units.back().end) {
    units.push_back(LinesAt(file, at, kScanBytes));
  }
  std::vector<uint64_t> counts(units.size());
  std::vector<absl::Status> read(units.size());
  executor.ForEach(units.size(), [&](size_t i) {
    read[i] = ForEachText(
        file, units[i], form,
        [&](const std::string& text, size_t end) { counts[i] += text.size(); });
  });
  uint64_t sum = 0;
  for (size_t i = 0; i < units.size(); ++i) {
    SKERRY_RETURN_IF_ERROR(read[i]);
    sum += counts[i];
  }
  return sum;
}

absl::StatusOr<PrepareInput> Scan(const std::string& path, const TextForm& form,
                                  const runtime::Files& files,
                                  ParallelExecutor& executor) {
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, files.Read(path));
  PrepareInput input{.path = path,
                     .is_json_lines = absl::EndsWith(path, ".jsonl"),
                     .bytes = bytes.size(),
                     .sha256 = Sha256Hex(bytes),
                     .text_bytes = bytes.size()};
  if (!input.is_json_lines) return input;
  const auto counted = CountTextBytes(TextIn(bytes), form, executor);
  if (!counted.ok()) return Annotate(counted.status(), path);
  input.text_bytes = *counted;
  return input;
}

// A place in one file, and the bytes of text before it.
struct Cut {
  uint64_t byte = 0;
  uint64_t text = 0;
};

// `wanted` bytes of text into a text file. Requires: wanted > 0.
Cut CutOfText(std::string_view file, uint64_t wanted, bool is_last) {
  const size_t feed = file.find('\n', wanted - 1);
  if (feed != file.npos && feed + 1 < file.size()) {
    return {feed + 1, feed + 1};
  }
  const uint64_t at = is_last ? wanted : file.size();
  return {at, at};
}

// Likewise of JSON lines, of which `all` is the text. After the document that
// it falls into; before it when it is the last.
absl::StatusOr<Cut> CutOfLines(std::string_view file, uint64_t wanted,
                               uint64_t all, bool is_last,
                               const TextForm& form) {
  Cut before;
  std::optional<Cut> found;
  const absl::Status read = ForEachText(
      file, {0, file.size()}, form, [&](const std::string& text, size_t end) {
        if (found.has_value()) return;
        const Cut after = {end, before.text + text.size()};
        if (after.text < wanted) {
          before = after;
        } else {
          found = after.text < all || !is_last ? after : before;
        }
      });
  SKERRY_RETURN_IF_ERROR(read);
  return found.value_or(before);
}

// Moves the cut that lies `wanted` bytes of text into the inputs.
absl::Status Place(uint64_t wanted, const TextForm& form,
                   const runtime::Files& files, PrepareInputs& all) {
  const auto last = std::find_if(
      all.inputs.rbegin(), all.inputs.rend(),
      [](const PrepareInput& input) { return input.text_bytes > 0; });
  for (size_t i = 0; i < all.inputs.size(); ++i) {
    const PrepareInput& input = all.inputs[i];
    if (wanted >= input.text_bytes) {
      wanted -= input.text_bytes;
      all.training_bytes += input.text_bytes;
      continue;
    }
    all.validation = {i, 0};
    if (wanted == 0) return absl::OkStatus();
    SKERRY_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                            ReadInput(input, files));
    const std::string_view file = TextIn(bytes);
    const bool is_last = last != all.inputs.rend() && &*last == &input;
    Cut cut;
    if (input.is_json_lines) {
      SKERRY_ASSIGN_OR_RETURN(
          cut, CutOfLines(file, wanted, input.text_bytes, is_last, form));
    } else {
      cut = CutOfText(file, wanted, is_last);
    }
    all.validation.byte = cut.byte;
    all.training_bytes += cut.text;
    return absl::OkStatus();
  }
  all.validation = {all.inputs.size(), 0};
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PrepareInputs> ScanInputs(const std::vector<std::string>& paths,
                                         const TextForm& form, double fraction,
                                         const runtime::Files& files,
                                         ParallelExecutor& executor) {
  PrepareInputs all;
  uint64_t total = 0;
  for (const std::string& path : paths) {
    SKERRY_ASSIGN_OR_RETURN(PrepareInput input,
                            Scan(path, form, files, executor));
    total += input.text_bytes;
    all.inputs.push_back(std::move(input));
  }
  const auto kept =
      static_cast<uint64_t>(static_cast<double>(total) * fraction);
  SKERRY_RETURN_IF_ERROR(Place(total - kept, form, files, all));
  all.validation_bytes = total - all.training_bytes;
  if (all.training_bytes == 0 || (fraction > 0 && all.validation_bytes == 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the text has ", total, " bytes, too few to be split"));
  }
  return all;
}

absl::StatusOr<std::vector<std::byte>> ReadInput(const PrepareInput& input,
                                                 const runtime::Files& files) {
  SKERRY_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, files.Read(input.path));
  if (Sha256Hex(bytes) != input.sha256) {
    return absl::FailedPreconditionError(absl::StrCat(
        input.path, " has changed while it was read; start again"));
  }
  return bytes;
}

std::string_view TextIn(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace skerry::cli
