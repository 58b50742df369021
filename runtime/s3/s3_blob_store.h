// runtime/s3/s3_blob_store.h
//
// Keeps blobs in a bucket of an object store. A blob is an object, and its name
// is the store's prefix, a slash and the blob's key.
#ifndef SKERRY_RUNTIME_S3_S3_BLOB_STORE_H_
#define SKERRY_RUNTIME_S3_S3_BLOB_STORE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "runtime/blob_store.h"
#include "runtime/s3/client.h"

namespace skerry::runtime::s3 {

struct S3BlobStoreOptions {
  // Longer blobs travel in parts of this size. Stores want at least 5 MiB.
  size_t part_bytes = size_t{64} << 20;
};

struct ObjectSize {
  size_t bytes = 0;
  // Names this content of the object; empty when the store names none.
  std::string tag;
};

// Objects whose names are no keys are not seen. One writer at a time: a writer
// removes what an interrupted one has left of parts. A store is used by one
// thread at a time. Errors besides those of BlobStore: as Client.
class S3BlobStore final : public BlobStore {
 public:
  S3BlobStore(Client client, std::string prefix,
              const S3BlobStoreOptions& options = {});

  absl::Status Put(const std::string& key, ByteSpan bytes) override;
  absl::StatusOr<std::vector<std::byte>> Get(
      const std::string& key) const override;
  absl::Status Read(
      const std::string& key,
      absl::FunctionRef<absl::Status(ByteSpan piece)> take) const override;
  absl::StatusOr<std::vector<std::string>> List(
      const std::string& folder) const override;
  absl::Status Delete(const std::string& key) override;
  absl::Status RemoveLeftovers() override;

 private:
  std::string ObjectOf(const std::string& key) const;
  // Gives the object's bytes to `take`, in order and in parts.
  absl::Status EachPart(
      const std::string& object, const ObjectSize& size,
      absl::FunctionRef<absl::Status(ByteSpan part)> take) const;
  absl::Status PutInParts(const std::string& object, ByteSpan bytes);
  absl::Status SendParts(const std::string& object, const std::string& upload,
                         ByteSpan bytes);
  absl::Status Complete(const std::string& object, const std::string& upload,
                        const std::string& parts_xml, size_t bytes);
  absl::Status AbortUpload(const std::string& object,
                           const std::string& upload);

  // Sends requests, and draws the pauses between them.
  mutable Client client_;
  const std::string prefix_;
  const S3BlobStoreOptions options_;
};

}  // namespace skerry::runtime::s3

#endif  // SKERRY_RUNTIME_S3_S3_BLOB_STORE_H_
