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
#include "runtime/http_ports.h"

namespace skerry::runtime::s3 {

class Places final : public BlobStores {
 public:
  // `files` outlives it and what it opens.
  Places(Files& files, HttpPorts ports);

  absl::StatusOr<std::unique_ptr<BlobStore>> Open(
      const std::string& place) override;

 private:
  Files& files_;
  const HttpPorts ports_;
};

}  // namespace skerry::runtime::s3

#endif  // SKERRY_RUNTIME_S3_PLACES_H_
