// trainer/service/posix_inner_file.h
//
// Reads and writes the file of a SaveInner or LoadInner call on the local disk.
#ifndef SKERRY_TRAINER_SERVICE_POSIX_INNER_FILE_H_
#define SKERRY_TRAINER_SERVICE_POSIX_INNER_FILE_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "runtime/posix/mapped_file.h"
#include "trainer/core/inner_file.h"

namespace skerry::trainer {

// What is written is not synced: the worker does that, while the trainer goes
// on.
class PosixInnerFile final : public InnerFile {
 public:
  PosixInnerFile(std::string path, std::function<void()> on_piece)
      : path_(std::move(path)), on_piece_(std::move(on_piece)) {}

  const std::string& path() const override { return path_; }
  // Codes: ResourceExhausted, the disk is full; InvalidArgument, anything else
  // that is wrong with the path or its disk.
  absl::Status Write(
      std::span<const std::span<const std::byte>> pieces) override;
  absl::StatusOr<std::span<const std::byte>> Read() override;
  void OnPiece() override { on_piece_(); }

 private:
  const std::string path_;
  const std::function<void()> on_piece_;
  std::shared_ptr<const runtime::MappedFile> mapped_;
};

}  // namespace skerry::trainer

#endif  // SKERRY_TRAINER_SERVICE_POSIX_INNER_FILE_H_
