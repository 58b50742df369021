#include "data/prepare/text_units.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/status.h"

namespace skerry::data {
namespace {

// How far behind a place a codec looks to tell whether a part may end there.
// Where units end must not depend on where windows do.
constexpr size_t kLookAhead = 16;

size_t LinesEnd(std::string_view bytes, size_t at) {
  if (at >= bytes.size()) return bytes.size();
  const size_t feed = bytes.find('\n', at == 0 ? 0 : at - 1);
  return feed == std::string_view::npos ? bytes.size() : feed + 1;
}

// Where the unit that `bytes` begin with ends; none when that is behind them.
std::optional<size_t> UnitEnd(std::string_view bytes, bool is_last,
                              size_t unit_bytes, const TextCodec* codec) {
  const size_t end =
      codec == nullptr
          ? LinesEnd(bytes, unit_bytes)
          : codec->PartEnd(bytes, std::min(unit_bytes, bytes.size()));
  if (is_last) return end;
  if (codec == nullptr) {
    const bool has_feed = bytes.size() >= unit_bytes && bytes[end - 1] == '\n';
    return has_feed ? std::optional<size_t>(end) : std::nullopt;
  }
  return end + kLookAhead <= bytes.size() ? std::optional<size_t>(end)
                                          : std::nullopt;
}

}  // namespace

absl::Status DocumentTooLong() {
  return absl::InvalidArgumentError(
      "a document is longer than 4 GiB; cut it in several files");
}

std::vector<TextUnit> UnitsIn(const Window& window, size_t unit_bytes,
                              size_t count_max, const TextCodec* codec) {
  std::vector<TextUnit> units;
  uint64_t line = window.line;
  std::string_view left = window.bytes;
  while (!left.empty() && units.size() < count_max) {
    const std::optional<size_t> end =
        UnitEnd(left, window.is_last, unit_bytes, codec);
    if (!end.has_value()) break;
    TextUnit unit{left.substr(0, *end),
                  window.begin + (window.bytes.size() - left.size()), line};
    if (codec == nullptr) {
      line += static_cast<uint64_t>(
          std::count(unit.bytes.begin(), unit.bytes.end(), '\n'));
    }
    units.push_back(unit);
    left.remove_prefix(*end);
  }
  return units;
}

absl::Status ForEachText(const TextUnit& unit, const TextForm& form,
                         absl::FunctionRef<void(PlacedText text)> take,
                         JsonLineCounts& counts) {
  return ForEachJsonLine(
      unit.bytes, form.lines, unit.line,
      [&](JsonLine line) {
        line.text += form.json_line_end;
        take({std::move(line.text), unit.begin + line.begin,
              unit.begin + line.end});
      },
      counts);
}

UnitEncoder::UnitEncoder(const TextCodec& codec, TextForm form,
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

absl::Status UnitEncoder::EncodeOne(const Stretch& stretch,
                                    const TextUnit& unit, TextCodec& codec,
                                    std::vector<int32_t>& tokens) const {
  if (!stretch.is_json_lines) {
    if (unit.bytes.size() > kDocumentBytesMax) return DocumentTooLong();
    return codec.AppendPart(
        unit.bytes, {unit.begin == stretch.begin, unit.end() == stretch.end},
        tokens);
  }
  bool is_too_long = false;
  std::vector<std::string> texts;
  JsonLineCounts counts;
  SKERRY_RETURN_IF_ERROR(ForEachText(
      unit, form_,
      [&](PlacedText one) {
        is_too_long = is_too_long || one.text.size() > kDocumentBytesMax;
        if (stretch.tear.has_value() && one.begin == stretch.tear->line) {
          const uint64_t text = stretch.tear->text;
          one.text = stretch.has_rest
                         ? one.text.substr(text)
                         : one.text.substr(0, text) + form_.json_line_end;
        }
        texts.push_back(std::move(one.text));
      },
      counts));
  if (is_too_long) return DocumentTooLong();
  return codec.AppendDocuments(texts, tokens);
}

}  // namespace skerry::data
