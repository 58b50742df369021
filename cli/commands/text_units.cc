#include "cli/commands/text_units.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/status.h"
#include "data/json_lines.h"

namespace skerry::cli {
namespace {

constexpr size_t kDocumentBytesMax = 0xffff'0000;

absl::Status TooLong() {
  return absl::InvalidArgumentError(
      "a document is longer than 4 GiB; cut it in several files");
}

}  // namespace

TextUnit LinesAt(std::string_view file, size_t begin, size_t unit_bytes) {
  if (file.size() - begin <= unit_bytes) return {begin, file.size()};
  const size_t feed = file.find('\n', begin + unit_bytes - 1);
  return {begin, feed == std::string_view::npos ? file.size() : feed + 1};
}

TextUnit UnitAt(const Stretch& stretch, size_t begin, size_t unit_bytes,
                const data::TextCodec& codec) {
  const std::string_view file = stretch.file.substr(0, stretch.end);
  if (stretch.is_json_lines) return LinesAt(file, begin, unit_bytes);
  const size_t size = codec.PartEnd(
      file.substr(begin), std::min<size_t>(unit_bytes, stretch.end - begin));
  return {begin, begin + size};
}

absl::Status ForEachText(
    std::string_view file, TextUnit unit, const TextForm& form,
    absl::FunctionRef<void(std::string text, size_t end)> take) {
  const std::string_view lines = file.substr(unit.begin, unit.end - unit.begin);
  const absl::Status read =
      data::ForEachJsonLine(lines, form.json_key, 1, [&](data::JsonLine line) {
        line.text += form.json_line_end;
        take(std::move(line.text), unit.begin + line.end);
      });
  if (read.ok()) return read;
  // Lines before are counted only for the message.
  const size_t before = static_cast<size_t>(std::count(
      file.begin(), file.begin() + std::ptrdiff_t(unit.begin), '\n'));
  return data::ForEachJsonLine(lines, form.json_key, before + 1,
                               [](data::JsonLine line) {});
}

UnitEncoder::UnitEncoder(const data::TextCodec& codec, TextForm form,
                         ParallelExecutor& executor)
    : form_(std::move(form)), executor_(executor) {
  for (int i = 0; i < executor.thread_count(); ++i) {
    codecs_.push_back(codec.Clone());
  }
}

absl::Status UnitEncoder::Encode(const Stretch& stretch,
                                 std::span<const TextUnit> units,
                                 std::vector<std::vector<int32_t>>& tokens) {
  tokens.resize(units.size());
  std::vector<absl::Status> done(units.size());
  std::atomic<size_t> next = 0;
  executor_.ForEach(codecs_.size(), [&](size_t slot) {
    for (size_t i = next++; i < units.size(); i = next++) {
      tokens[i].clear();
      done[i] = EncodeOne(stretch, units[i], *codecs_[slot], tokens[i]);
    }
  });
  for (absl::Status& status : done) {
    if (!status.ok()) return std::move(status);
  }
  return absl::OkStatus();
}

absl::Status UnitEncoder::EncodeOne(const Stretch& stretch, TextUnit unit,
                                    data::TextCodec& codec,
                                    std::vector<int32_t>& tokens) const {
  if (!stretch.is_json_lines) {
    if (unit.end - unit.begin > kDocumentBytesMax) return TooLong();
    return codec.AppendPart(
        stretch.file.substr(unit.begin, unit.end - unit.begin),
        {unit.begin == stretch.begin, unit.end == stretch.end}, tokens);
  }
  bool is_too_long = false;
  std::vector<std::string> texts;
  SKERRY_RETURN_IF_ERROR(
      ForEachText(stretch.file, unit, form_, [&](std::string text, size_t end) {
        is_too_long = is_too_long || text.size() > kDocumentBytesMax;
        texts.push_back(std::move(text));
      }));
  if (is_too_long) return TooLong();
  return codec.AppendDocuments(texts, tokens);
}

}  // namespace skerry::cli
