// cli/commands/text_units.h
//
// Input files in units that many threads encode, each by itself.
#ifndef SKERRY_CLI_COMMANDS_TEXT_UNITS_H_
#define SKERRY_CLI_COMMANDS_TEXT_UNITS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "base/executor.h"
#include "data/tokenizer/text_codec.h"

namespace skerry::cli {

struct TextForm {
  // Key of a JSON line's text.
  std::string json_key = "text";
  // Goes after each such text.
  std::string json_line_end = "";
};

// What of a file goes to one split: of a text file one document, of JSON lines
// one a line.
struct Stretch {
  std::string_view file;
  bool is_json_lines = false;
  size_t begin = 0;
  size_t end = 0;
};

// Bytes [begin, end) of a stretch's file.
struct TextUnit {
  size_t begin = 0;
  size_t end = 0;
};

// The unit of some `unit_bytes` that begins at `begin`, which is the stretch's
// beginning or the end of another unit: of JSON lines whole lines, of a text
// file a part as `codec` cuts it. The tokens of units one after another are
// those of the stretch, whatever `unit_bytes` is.
TextUnit UnitAt(const Stretch& stretch, size_t begin, size_t unit_bytes,
                const data::TextCodec& codec);
// Likewise of JSON lines, without a codec.
TextUnit LinesAt(std::string_view file, size_t begin, size_t unit_bytes);

// The texts of JSON lines with what goes after each. `end` is where the line
// ends in the file. Errors: InvalidArgument that names the line in the file.
absl::Status ForEachText(
    std::string_view file, TextUnit unit, const TextForm& form,
    absl::FunctionRef<void(std::string text, size_t end)> take);

class UnitEncoder {
 public:
  // `executor` outlives it.
  UnitEncoder(const data::TextCodec& codec, TextForm form,
              ParallelExecutor& executor);

  // The tokens of every unit, on all threads. Errors, of the first unit that
  // has one: InvalidArgument for a text, or that of a codec.
  absl::Status Encode(const Stretch& stretch, std::span<const TextUnit> units,
                      std::vector<std::vector<int32_t>>& tokens);

 private:
  absl::Status EncodeOne(const Stretch& stretch, TextUnit unit,
                         data::TextCodec& codec,
                         std::vector<int32_t>& tokens) const;

  const TextForm form_;
  ParallelExecutor& executor_;
  // One a thread.
  std::vector<std::unique_ptr<data::TextCodec>> codecs_;
};

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_TEXT_UNITS_H_
