// data/numpy_file.h
//
// Tokens in a .npy file (NumPy's format, versions 1 to 3).
#ifndef SKERRY_DATA_NUMPY_FILE_H_
#define SKERRY_DATA_NUMPY_FILE_H_

#include <cstddef>
#include <span>

#include "absl/status/statusor.h"
#include "data/token_array.h"

namespace skerry::data {

// Whether the bytes begin as such a file does.
bool IsNumpyFile(std::span<const std::byte> bytes);

// An array of whole numbers, of one dimension or, row by row, of more. The
// bytes are borrowed.
//
// Any bytes may be given. Errors: InvalidArgument with one line that says what
// is wrong: no such file, other items, columns first, or a size that is not
// that of the shape.
absl::StatusOr<TokenArray> ParseNumpyFile(std::span<const std::byte> bytes);

}  // namespace skerry::data

#endif  // SKERRY_DATA_NUMPY_FILE_H_
