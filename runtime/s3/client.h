// runtime/s3/client.h
//
// Sends signed requests to an object store, and sends them again when the store
// or the way to it fails for a moment.
#ifndef SKERRY_RUNTIME_S3_CLIENT_H_
#define SKERRY_RUNTIME_S3_CLIENT_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "absl/container/btree_map.h"
#include "absl/status/statusor.h"
#include "base/random.h"
#include "runtime/http_ports.h"
#include "runtime/s3/credentials.h"

namespace skerry::runtime::s3 {

struct Request {
  std::string method;
  // The object's whole key; empty for the bucket itself.
  std::string key;
  absl::btree_map<std::string, std::string> query = {};
  // Names in lower case.
  absl::btree_map<std::string, std::string> headers = {};
  std::optional<std::span<const std::byte>> body = std::nullopt;
  // A longer reply is an error.
  size_t reply_bytes_max = size_t{16} << 20;
};

// One call at a time.
class Client {
 public:
  Client(Settings settings, std::string bucket, HttpPorts ports);

  // Returns a reply whose code is 2xx. A code of 500 and above, 429, and a
  // connection that fails are tried again up to kTries times, with growing
  // pauses drawn at random. `*tries`, if given, is the number of sent requests.
  //
  // Errors: NotFound, there is no such object or upload; Aborted, the object
  // has changed (412); PermissionDenied; FailedPrecondition for a bucket that
  // is not there or a store that is set up otherwise; Unavailable after the
  // last try; Cancelled. Each is one line that names bucket and key.
  absl::StatusOr<HttpReply> Call(const Request& request, int* tries = nullptr);

  const std::string& bucket() const { return bucket_; }

  static constexpr int kTries = 7;

 private:
  absl::StatusOr<HttpReply> Once(const Request& request);
  absl::Status ErrorOf(const Request& request, const HttpReply& reply) const;

  const Settings settings_;
  const std::string bucket_;
  HttpPorts ports_;
  Random random_;
};

}  // namespace skerry::runtime::s3

#endif  // SKERRY_RUNTIME_S3_CLIENT_H_
