// runtime/s3/places.h
//
// Opens folders and places in object stores, as users name them.
#ifndef SKERRY_RUNTIME_S3_PLACES_H_
#define SKERRY_RUNTIME_S3_PLACES_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/blob_stores.h"
#include "runtime/files.h"
#include "runtime/s3/client.h"
#include "runtime/s3/credentials.h"

namespace skerry::runtime::s3 {

class Places final : public BlobStores {
 public:
  // `files` outlives it and what it opens. `variable` reads the environment.
  Places(Files& files, Lookup variable, ClientPorts ports);

  absl::StatusOr<std::unique_ptr<BlobStore>> Open(
      const std::string& place) override;

 private:
  Files& files_;
  const Lookup variable_;
  const ClientPorts ports_;
};

}  // namespace skerry::runtime::s3

#endif  // SKERRY_RUNTIME_S3_PLACES_H_
