// trainer/attach/core/one_line.h
//
// Turns what a program says into a part of one line for operators.
#ifndef SKERRY_TRAINER_ATTACH_CORE_ONE_LINE_H_
#define SKERRY_TRAINER_ATTACH_CORE_ONE_LINE_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace skerry::trainer::attach {

inline constexpr size_t kOneLineBytesMax = 500;

// `text` as UTF-8 without control characters, of at most kOneLineBytesMax
// bytes. Blanks at both ends are left out. A byte that is not part of UTF-8
// becomes a question mark.
std::string OneLine(absl::string_view text);

}  // namespace skerry::trainer::attach

#endif  // SKERRY_TRAINER_ATTACH_CORE_ONE_LINE_H_
