// runtime/blob_store.h
//
// A blob store keeps bytes under names, apart from any single worker.
// Checkpoints live there. It is a folder, or a bucket of an object store.
#ifndef SKERRY_RUNTIME_BLOB_STORE_H_
#define SKERRY_RUNTIME_BLOB_STORE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/files.h"

namespace skerry::runtime {

// A key is one or more parts joined by '/'. A part has letters, digits, '.',
// '_' and '-', and does not begin with '.'. Every call may block. Errors are
// those of Files, and InvalidArgument for a malformed key.
class BlobStore {
 public:
  virtual ~BlobStore() = default;

  // Replaces the blob. On OK it is durable; otherwise the old one is there,
  // whole, or the new one.
  virtual absl::Status Put(const std::string& key, ByteSpan bytes) = 0;
  // Errors: NotFound.
  virtual absl::StatusOr<std::vector<std::byte>> Get(
      const std::string& key) const = 0;
  // Keys that begin with `folder` + '/', or all when it is empty; sorted. Empty
  // when there are none.
  virtual absl::StatusOr<std::vector<std::string>> List(
      const std::string& folder) const = 0;
  // Durable when it returns. OK when there was none.
  virtual absl::Status Delete(const std::string& key) = 0;
  // Removes what writers that were interrupted have left and no key names. The
  // caller is the only writer.
  virtual absl::Status RemoveLeftovers() = 0;
  // Gives the blob's bytes to `take` in order, piece by piece, for blobs of any
  // size. Ends with the first error of `take`. Errors: NotFound; Aborted, the
  // blob was replaced meanwhile.
  virtual absl::Status Read(
      const std::string& key,
      absl::FunctionRef<absl::Status(ByteSpan piece)> take) const = 0;
};

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_BLOB_STORE_H_
