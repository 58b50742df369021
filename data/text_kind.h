// data/text_kind.h
//
// What kind of file holds somebody's texts: decided by its first bytes, and by
// its name only where they leave it open.
#ifndef SKERRY_DATA_TEXT_KIND_H_
#define SKERRY_DATA_TEXT_KIND_H_

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace skerry::data {

// How a file is compressed.
enum class Packing { kNone, kGzip, kZstd };

Packing PackingOf(std::string_view head);
// `gzip`, `zstd`, or nothing.
std::string_view PackingName(Packing packing);

enum class TextKind {
  // The file is one document.
  kText,
  // The file has a document a line: docs/formats/text_inputs.md.
  kJsonLines,
};

// Bytes of a file's beginning that decide its kind. A shorter head is the whole
// file.
inline constexpr size_t kTextHeadBytes = size_t{1} << 16;

// Whether a file that begins with `head`, unpacked, holds text at all. `path`
// is for the message. Errors: InvalidArgument that names the kind and the
// command that converts it: Parquet, archives, compressed forms that Skerry
// does not read, UTF-16, files of tokens or weights, and whatever else has
// bytes that no text has, if it is no UTF-8 or has many of them.
absl::Status CheckIsText(std::string_view head, std::string_view path);

// The kind of a file that begins with `head`, unpacked, and holds text.
// `is_whole` says that nothing follows. Errors: InvalidArgument with the cure
// for JSON that is no JSON lines: one array, or one object over several lines.
absl::StatusOr<TextKind> TextKindOf(std::string_view head, bool is_whole,
                                    std::string_view path);

}  // namespace skerry::data

#endif  // SKERRY_DATA_TEXT_KIND_H_
