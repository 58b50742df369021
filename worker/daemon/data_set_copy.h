// worker/daemon/data_set_copy.h
//
// Copies a data set from an object store into a folder, file by file, and
// checks each file against the SHA-256 that the manifest names.
#ifndef SKERRY_WORKER_DAEMON_DATA_SET_COPY_H_
#define SKERRY_WORKER_DAEMON_DATA_SET_COPY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/manifest.h"
#include "runtime/blob_stores.h"
#include "runtime/files.h"

namespace skerry::worker {

// Every call may block. Once it is open, files of one copy may be checked and
// fetched on several threads. Each error is one line that names the file.
class DataSetCopy {
 public:
  struct File {
    std::string name;
    uint64_t bytes = 0;
    std::string sha256;
  };

  // `place` is the set in the object store, `folder` the one to fill. The
  // manifest has to have this SHA-256. `files` and `places` outlive the copy.
  DataSetCopy(std::string place, std::string manifest_sha256,
              std::string folder, runtime::Files& files,
              runtime::BlobStores& places);

  // Reads the manifest and the tokenizer that it names. Those in the folder are
  // taken if they are right. Errors: as BlobStores and BlobStore; DataLoss when
  // the store has other files; InvalidArgument for a manifest that cannot be.
  absl::Status Open();

  // Whether the folder seems to lack nothing: it has a manifest, and files of
  // the right lengths. Asks no store, and opens nothing.
  bool SeemsWhole() const;

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
  // Fetches the file. It gets its name when all of it is there and has the
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
    // It has come from the store and is not in the folder.
    bool is_new = false;
  };

  static std::vector<File> ShardsOf(const data::Manifest& manifest);
  std::string PathOf(const std::string& name) const;
  // The file from the folder, or else from the store.
  absl::StatusOr<Small> Read(const std::string& name,
                             const std::string& sha256) const;
  absl::StatusOr<Small> ReadInStore(const std::string& name,
                                    const std::string& sha256) const;

  const std::string place_;
  const std::string manifest_sha256_;
  const std::string folder_;
  runtime::Files& files_;
  runtime::BlobStores& places_;
  std::vector<Small> small_;
  std::vector<File> shards_;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_DATA_SET_COPY_H_
