// runtime/directory_blob_store.h
//
// Keeps blobs in a directory. A blob is a file, and the parts of its key before
// the last are directories.
#ifndef SKERRY_RUNTIME_DIRECTORY_BLOB_STORE_H_
#define SKERRY_RUNTIME_DIRECTORY_BLOB_STORE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "runtime/blob_store.h"
#include "runtime/blob_stores.h"
#include "runtime/files.h"

namespace skerry::runtime {

// Makes `root` when the first blob is written. Files whose names are no parts
// of a key are not seen. A directory goes with its last blob. One writer at a
// time. `files` outlives the store.
class DirectoryBlobStore final : public BlobStore {
 public:
  DirectoryBlobStore(std::string root, Files& files);

  absl::Status Put(const std::string& key, ByteSpan bytes) override;
  absl::StatusOr<std::vector<std::byte>> Get(
      const std::string& key) const override;
  absl::Status Read(
      const std::string& key,
      absl::FunctionRef<absl::Status(ByteSpan piece)> take) const override;
  absl::StatusOr<std::vector<std::string>> List(
      const std::string& folder) const override;
  absl::Status Delete(const std::string& key) override;
  // A file that was not finished is replaced by the next one of its name.
  absl::Status RemoveLeftovers() override { return absl::OkStatus(); }

 private:
  absl::Status Walk(const std::string& folder,
                    std::vector<std::string>& keys) const;

  const std::string root_;
  Files& files_;
};

// Opens folders, and no object store. `files` outlives it and what it opens.
class Folders final : public BlobStores {
 public:
  explicit Folders(Files& files) : files_(files) {}

  absl::StatusOr<std::unique_ptr<BlobStore>> Open(
      const std::string& place) override {
    return std::make_unique<DirectoryBlobStore>(place, files_);
  }

 private:
  Files& files_;
};

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_DIRECTORY_BLOB_STORE_H_
