// runtime/posix/shared_memory.h
//
// Shares values between two processes of one machine.
#ifndef SKERRY_RUNTIME_POSIX_SHARED_MEMORY_H_
#define SKERRY_RUNTIME_POSIX_SHARED_MEMORY_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"

namespace skerry::runtime {

// A mapped POSIX shared-memory object. When its maker is destroyed, nobody can
// open the object any more. A process that has it open keeps it.
class SharedMemory {
 public:
  // Makes an object of `size` zero bytes; `name` starts with a slash and has no
  // other. Codes: AlreadyExists, ResourceExhausted (no room in shared memory),
  // Internal.
  static absl::StatusOr<std::unique_ptr<SharedMemory>> Create(
      const std::string& name, size_t size);
  // Maps all of an object made elsewhere. Codes: NotFound, PermissionDenied,
  // Internal.
  static absl::StatusOr<std::unique_ptr<SharedMemory>> Open(
      const std::string& name);

  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  // Takes the name away now: those who have the object open keep it, and a
  // process that is killed leaves nothing behind. Maker only.
  void Unlink();

  const std::string& name() const { return name_; }
  std::span<std::byte> bytes() { return {data_, size_}; }

 private:
  SharedMemory(std::string name, std::byte* data, size_t size, bool owner);

  const std::string name_;
  std::byte* const data_;
  const size_t size_;
  bool owner_;  // of the name
};

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_POSIX_SHARED_MEMORY_H_
