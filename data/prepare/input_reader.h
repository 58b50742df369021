// data/prepare/input_reader.h
//
// Reads a text file of any kind: it unpacks the content and gives it out one
// window after another.
#ifndef SKERRY_DATA_PREPARE_INPUT_READER_H_
#define SKERRY_DATA_PREPARE_INPUT_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/sha256.h"
#include "data/decompressor.h"
#include "data/text_kind.h"
#include "runtime/files.h"

namespace skerry::data {

class InputReader {
 public:
  // `path` is the user's name of the input, and `file` is where its bytes are.
  // Without `wanted`, content and name decide the kind; with it, any content is
  // taken for that kind. Memory is the window and half a MiB, and up to 128 MiB
  // more to unpack zstd. Every call has these errors: InvalidArgument that
  // begins with the path, for a kind that is not read, or for packed bytes that
  // are damaged or cut off; those of `files`.
  static absl::StatusOr<InputReader> Open(std::string path,
                                          const std::string& file,
                                          std::optional<TextKind> wanted,
                                          const runtime::Files& files);

  const std::string& path() const { return path_; }
  TextKind kind() const { return kind_; }
  Packing packing() const { return packing_; }

  // What of the content is in memory, and its place in it. `line` is the number
  // of the line that it begins in, counted for JSON lines alone.
  std::string_view window() const {
    return std::string_view(buffer_).substr(begin_);
  }
  uint64_t position() const { return position_; }
  uint64_t line() const { return line_; }
  // Whether the content ends where the window does.
  bool at_end() const { return at_end_; }

  // Reads on until the window has `bytes`, or the content ends.
  absl::Status Fill(uint64_t bytes);
  // Takes so many bytes from the beginning of the window. Requires: it has
  // them.
  void Drop(size_t bytes);
  // Drops what is before the place. Errors also: FailedPrecondition, the
  // content ends before it.
  absl::Status SkipTo(uint64_t position);
  // All that is left of the content. Errors also: InvalidArgument above 4 GiB.
  absl::StatusOr<std::string_view> ReadAll();

  // SHA-256 of the content. Requires: at_end(); asked for once.
  std::string Digest() { return std::move(sha256_).HexDigest(); }

 private:
  InputReader(std::string path, std::unique_ptr<runtime::ByteSource> source)
      : path_(std::move(path)), source_(std::move(source)) {}
  absl::Status ReadRaw();
  absl::Status Unpack();
  absl::Status FindKind(std::optional<TextKind> wanted);

  std::string path_;
  std::unique_ptr<runtime::ByteSource> source_;
  TextKind kind_ = TextKind::kText;
  Packing packing_ = Packing::kNone;
  // Null when it is not packed.
  std::unique_ptr<Decompressor> unpacker_;
  // Bytes of the file that are not unpacked yet, and whether they are the last.
  std::vector<std::byte> raw_;
  size_t raw_begin_ = 0;
  bool raw_ended_ = false;
  // The window lies at the end of the buffer.
  std::string buffer_;
  size_t begin_ = 0;
  uint64_t position_ = 0;
  uint64_t line_ = 1;
  bool at_end_ = false;
  Sha256 sha256_;
};

}  // namespace skerry::data

#endif  // SKERRY_DATA_PREPARE_INPUT_READER_H_
