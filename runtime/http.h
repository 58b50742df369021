// runtime/http.h
//
// Defines one request over HTTP and what came back.
#ifndef SKERRY_RUNTIME_HTTP_H_
#define SKERRY_RUNTIME_HTTP_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace skerry::runtime {

struct HttpRequest {
  std::string method;
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  // For the whole reply.
  absl::Duration timeout;
  // A longer body is an error.
  size_t body_bytes_max = 0;
  // What is sent; no body at all when it is not set. It outlives the call.
  std::optional<std::span<const std::byte>> body = std::nullopt;
  // The call fails when nothing at all has come or gone for so long.
  absl::Duration stalled_max = absl::InfiniteDuration();
  // A file with the certificates to trust for https; those of the system when
  // it is empty.
  std::string ca_file = "";
};

struct HttpReply {
  int code = 0;
  // By name in lower case; the last one of each name.
  absl::btree_map<std::string, std::string> headers;
  std::string body;
};

// Waits for the reply. Any thread. Errors: Unavailable, with the reason;
// Cancelled, nobody wants it any more. A reply of any code is none.
using HttpFetch =
    std::function<absl::StatusOr<HttpReply>(const HttpRequest& request)>;

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_HTTP_H_
