// runtime/posix/read_range.h
//
// Reads a part of a file that may be large.
#ifndef SKERRY_RUNTIME_POSIX_READ_RANGE_H_
#define SKERRY_RUNTIME_POSIX_READ_RANGE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace skerry::runtime {

// Returns the bytes from `offset` on, at most `bytes_max`, and fewer only where
// the file ends. May block. Codes: NotFound, PermissionDenied, Internal; the
// message names the path.
absl::StatusOr<std::vector<std::byte>> ReadRange(const std::string& path,
                                                 uint64_t offset,
                                                 size_t bytes_max);

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_POSIX_READ_RANGE_H_
