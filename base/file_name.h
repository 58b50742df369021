// base/file_name.h
//
// Judges names of files that somebody else has written.
#ifndef SKERRY_BASE_FILE_NAME_H_
#define SKERRY_BASE_FILE_NAME_H_

#include <string_view>

namespace skerry {

// Whether `name` is that of a file in a known folder, and can lead nowhere
// else: 1 to 255 printable ASCII characters without blanks and slashes, of
// which the first is no dot.
bool IsPlainFileName(std::string_view name);

}  // namespace skerry

#endif  // SKERRY_BASE_FILE_NAME_H_
