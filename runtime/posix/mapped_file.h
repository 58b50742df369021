// runtime/posix/mapped_file.h
//
// Maps a whole file as read-only memory.
#ifndef SKERRY_RUNTIME_POSIX_MAPPED_FILE_H_
#define SKERRY_RUNTIME_POSIX_MAPPED_FILE_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"

namespace skerry::runtime {

// Stays readable when the file's name is removed or replaced. A file that
// somebody truncates in place is not readable past its new end; Skerry's own
// files never change once they have their name.
class MappedFile {
 public:
  // Codes: NotFound, PermissionDenied, Internal; the message names the path.
  static absl::StatusOr<std::shared_ptr<const MappedFile>> Open(
      const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }

  // Has the system read these bytes of a mapped file, which will be looked at
  // soon, and does not wait for it. Whether it does is up to the system.
  static void WillRead(std::span<const std::byte> bytes);

 private:
  MappedFile(const std::byte* data, size_t size) : data_(data), size_(size) {}

  const std::byte* const data_;
  const size_t size_;
};

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_POSIX_MAPPED_FILE_H_
