// worker/daemon/data_set_copy.h
//
// Copies a data set from an object store or from other workers into a folder,
// file by file, and checks each file against the SHA-256 that the manifest
// names.
#ifndef SKERRY_WORKER_DAEMON_DATA_SET_COPY_H_
#define SKERRY_WORKER_DAEMON_DATA_SET_COPY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/files.h"
#include "worker/daemon/data_files.h"
#include "worker/daemon/data_source.h"

namespace skerry::worker {

// Every call may block. Once it is open, files of one copy may be checked and
// fetched on several threads. Each error is one line that names the file.
class DataSetCopy {
 public:
  using File = DataFile;

  // `folder` is the one to fill. The manifest has to have this SHA-256. `files`
  // and `source` outlive the copy.
  DataSetCopy(std::string manifest_sha256, std::string folder,
              runtime::Files& files, DataSource& source);

  // Reads the manifest and the tokenizer that it names. Those in the folder are
  // taken if they are right. Errors: those of the source; Unavailable when it
  // has no origin; DataLoss when the origins have other files; InvalidArgument
  // for a manifest that cannot be.
  absl::Status Open();

  // Manifest and tokenizer. Requires: it is open.
  std::vector<File> SmallFiles() const;
  // The other files, in the order of the manifest.
  const std::vector<File>& shards() const { return shards_; }

  // Writes manifest and tokenizer into the folder, which it makes.
  absl::Status WriteSmall();
  // Whether the folder has the file whole and with the right hash. Reads all of
  // it.
  bool IsRight(const File& file) const;
  // Whether the folder has a file of that name and length.
  bool HasLength(const File& file) const;
  // Fetches the file from the first origin that gives the right one. It gets
  // its name when all of it is there and has the
  // right hash, and is durable then. `on_bytes` is called with the length of
  // each piece and ends the fetch with the error that it returns. Errors also:
  // ResourceExhausted, the disk is full.
  absl::Status Fetch(
      const File& file,
      const std::function<absl::Status(size_t bytes)>& on_bytes) const;

 private:
  struct Small {
    File file;
    std::vector<std::byte> bytes;
    // It has come from the source and is not in the folder.
    bool is_new = false;
  };

  // What came of asking one origin.
  struct Tried {
    absl::Status status;
    // Another origin would not help.
    bool is_own = false;
  };

  std::string PathOf(const std::string& name) const;
  // Asks one origin after the other until one gives what is wanted. Errors:
  // what they said.
  absl::Status FromAny(
      absl::FunctionRef<Tried(const std::string& origin)> ask) const;
  // The file from the folder, or else from the source.
  absl::StatusOr<Small> Read(const File& file) const;
  absl::Status ReadAt(const std::string& origin, Small& small) const;
  Tried FetchAt(
      const std::string& origin, const File& file,
      const std::function<absl::Status(size_t bytes)>& on_bytes) const;

  const std::string manifest_sha256_;
  const std::string folder_;
  runtime::Files& files_;
  DataSource& source_;
  std::vector<Small> small_;
  std::vector<File> shards_;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_DATA_SET_COPY_H_
