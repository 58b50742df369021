// trainer/core/inner_file.h
//
// The file of one SaveInner or LoadInner call (docs/formats/inner_state.md).
#ifndef SKERRY_TRAINER_CORE_INNER_FILE_H_
#define SKERRY_TRAINER_CORE_INNER_FILE_H_

#include <cstddef>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "protocol/inner_label.h"

namespace skerry::trainer {

using protocol::InnerLabel;
using protocol::InnerProgress;

class InnerFile {
 public:
  virtual ~InnerFile() = default;
  // For a trainer whose other processes read or write the file.
  virtual const std::string& path() const = 0;
  // Replaces the file with the pieces one after the other. Errors: those of the
  // disk, naming the path.
  virtual absl::Status Write(
      std::span<const std::span<const std::byte>> pieces) = 0;
  // The whole file; valid as long as this object. Errors: InvalidArgument, it
  // cannot be opened.
  virtual absl::StatusOr<std::span<const std::byte>> Read() = 0;
  // Called now and then while the call goes on, so that nobody takes the
  // trainer for hung.
  virtual void OnPiece() = 0;
};

}  // namespace skerry::trainer

#endif  // SKERRY_TRAINER_CORE_INNER_FILE_H_
