// runtime/blob_stores.h
//
// Opens the blob store at a place that a job or a command names.
#ifndef SKERRY_RUNTIME_BLOB_STORES_H_
#define SKERRY_RUNTIME_BLOB_STORES_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/blob_store.h"

namespace skerry::runtime {

class BlobStores {
 public:
  virtual ~BlobStores() = default;

  // `place` is a folder, or s3://BUCKET/PREFIX (base/s3_location.h). Opening
  // reads credentials and asks nobody. May block. Any thread. Errors:
  // InvalidArgument for a place that cannot be; FailedPrecondition when there
  // are no credentials, with a line that says where they are looked for.
  virtual absl::StatusOr<std::unique_ptr<BlobStore>> Open(
      const std::string& place) = 0;
};

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_BLOB_STORES_H_
