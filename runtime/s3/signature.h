// runtime/s3/signature.h
//
// Signs requests to an object store: AWS Signature Version 4 with the service
// "s3", as the Amazon S3 API Reference describes it under "Authenticating
// Requests (AWS Signature Version 4)".
#ifndef SKERRY_RUNTIME_S3_SIGNATURE_H_
#define SKERRY_RUNTIME_S3_SIGNATURE_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/time/time.h"
#include "runtime/s3/credentials.h"

namespace skerry::runtime::s3 {

// Each byte that is not a letter, a digit or one of "-._~" becomes %XX. A slash
// stays as it is where `keep_slashes` says so.
std::string UriEncoded(std::string_view text, bool keep_slashes);

struct ToSign {
  std::string method;
  // HOST or HOST:PORT, as the request's Host header has it.
  std::string host;
  // Encoded, from the first slash.
  std::string path;
  // Names and values, not encoded.
  absl::btree_map<std::string, std::string> query;
  // Headers to be signed besides Host and the date; names in lower case.
  absl::btree_map<std::string, std::string> headers;
  // 64 hex digits, of the body.
  std::string payload_sha256;
};

// "a=1&b=2", encoded, in the order in which it is signed.
std::string QueryText(const absl::btree_map<std::string, std::string>& query);

// Returns the headers that the request has to carry: those of `request`, the
// date, the hash, the session's token if there is one, and the signature.
std::vector<std::pair<std::string, std::string>> SignedHeaders(
    const ToSign& request, const Credentials& credentials,
    const std::string& region, absl::Time now);

}  // namespace skerry::runtime::s3

#endif  // SKERRY_RUNTIME_S3_SIGNATURE_H_
