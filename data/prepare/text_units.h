// data/prepare/text_units.h
//
// Cuts inputs into units that threads can encode independently.
#ifndef SKERRY_DATA_PREPARE_TEXT_UNITS_H_
#define SKERRY_DATA_PREPARE_TEXT_UNITS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "base/executor.h"
#include "data/json_lines.h"
#include "data/tokenizer/text_codec.h"

namespace skerry::data {

// A unit or document above this is refused.
inline constexpr size_t kDocumentBytesMax = 0xffff'0000;
absl::Status DocumentTooLong();

struct TextForm {
  JsonLinesForm lines;
  // Text that goes after the text of each JSON line.
  std::string json_line_end = "";
};

// A JSON line whose text goes to both splits. It begins at `line` of the
// input's content; the first `text` bytes of its text are for training.
struct Tear {
  uint64_t line = 0;
  uint64_t text = 0;
  friend bool operator==(const Tear&, const Tear&) = default;
};

// The part of an input that goes to one split. A text is one document, and JSON
// lines have one document a line. Places are bytes of the unpacked content.
struct Stretch {
  bool is_json_lines = false;
  uint64_t begin = 0;
  uint64_t end = 0;
  // The line that is torn, and whether this stretch has the rest of its text
  // or the beginning.
  std::optional<Tear> tear = std::nullopt;
  bool has_rest = false;
};

// A part of the content that lies in memory, and where it is from.
struct Window {
  std::string_view bytes;
  // Place of the first byte, and the number of the line that it is in.
  uint64_t begin = 0;
  uint64_t line = 1;
  // Whether the stretch, or the input, ends where the window does.
  bool is_last = true;
};

// A part of a stretch. Of JSON lines it has whole lines.
struct TextUnit {
  std::string_view bytes;
  uint64_t begin = 0;
  uint64_t line = 1;
  uint64_t end() const { return begin + bytes.size(); }
};

// Returns the units of about `unit_bytes` at the front of the window, at most
// `count_max`. A null `codec` stands for JSON lines. Returns none when the
// window is too small to tell where the first ends. The tokens of all units,
// one after another, are those of the stretch, whatever `unit_bytes` is and
// however the content comes in windows. Requires: the window begins where the
// stretch or a unit does.
std::vector<TextUnit> UnitsIn(const Window& window, size_t unit_bytes,
                              size_t count_max, const TextCodec* codec);

// The texts of JSON lines, each with what goes after it, and the places where
// its line begins and ends. Errors: InvalidArgument that names the line.
struct PlacedText {
  std::string text;
  uint64_t begin = 0;
  uint64_t end = 0;
};
absl::Status ForEachText(const TextUnit& unit, const TextForm& form,
                         absl::FunctionRef<void(PlacedText text)> take,
                         JsonLineCounts& counts);

class UnitEncoder {
 public:
  // `executor` outlives it.
  UnitEncoder(const TextCodec& codec, TextForm form,
              ParallelExecutor& executor);

  // The tokens of every unit, on all threads. Errors, of the first unit that
  // has one: InvalidArgument for a text, or that of a codec.
  absl::Status Encode(const Stretch& stretch, std::span<const TextUnit> units,
                      std::vector<std::vector<int32_t>>& tokens);

 private:
  absl::Status EncodeOne(const Stretch& stretch, const TextUnit& unit,
                         TextCodec& codec, std::vector<int32_t>& tokens) const;

  const TextForm form_;
  ParallelExecutor& executor_;
  // One a thread.
  std::vector<std::unique_ptr<TextCodec>> codecs_;
};

}  // namespace skerry::data

#endif  // SKERRY_DATA_PREPARE_TEXT_UNITS_H_
