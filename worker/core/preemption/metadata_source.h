// worker/core/preemption/metadata_source.h
//
// Defines the conversation with a cloud's instance metadata service: which
// request is due, and what the reply to it says. Replies come from a stranger.
#ifndef SKERRY_WORKER_CORE_PREEMPTION_METADATA_SOURCE_H_
#define SKERRY_WORKER_CORE_PREEMPTION_METADATA_SOURCE_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "worker/core/preemption/finding.h"

namespace skerry::worker {

// No reply that a service documents is nearly as long.
inline constexpr size_t kMetadataBytesMax = 64 << 10;

struct MetadataRequest {
  std::string method;  // GET or PUT, without a body
  std::string path;    // with its query, as in "/latest/api/token"
  std::vector<std::pair<std::string, std::string>> headers;
  // A reply that takes longer counts as none.
  absl::Duration timeout;
};

struct MetadataReply {
  int code = 0;  // of HTTP
  // By name in lower case.
  absl::btree_map<std::string, std::string> headers;
  std::string body;
};

// A cloud's protocol without its network. Members are called in turn: Next(),
// then OnReply() unless no reply came, then Next() again.
class MetadataSource {
 public:
  virtual ~MetadataSource() = default;
  // The request that is due.
  virtual MetadataRequest Next() const = 0;
  // Takes the reply to Next(). `now` is this machine's wall clock. Errors:
  // Unavailable, with a line that names the request and what is wrong with the
  // reply.
  virtual absl::StatusOr<Finding> OnReply(const MetadataReply& reply,
                                          absl::Time now) = 0;
  // Time from a finding until Next() is asked again.
  virtual absl::Duration pause() const = 0;
};

// The time from a reply until `at`, from 0 to `most`. The service's clock
// counts when the reply shows it, because that clock has set the deadline;
// otherwise `now` does.
absl::Duration TimeUntil(absl::Time at, const MetadataReply& reply,
                         absl::Time now, absl::Duration most);

// The moment that `text` writes as in 2026-11-26T07:00:00Z. Errors:
// InvalidArgument.
absl::StatusOr<absl::Time> ReadRfc3339(absl::string_view text);

// The moment that `text` writes as in "Thu, 26 Nov 2026 07:00:00 GMT". Errors:
// InvalidArgument.
absl::StatusOr<absl::Time> ReadHttpDate(absl::string_view text);

// Unavailable: "GET /latest/api/token: " and what is wrong with the reply.
absl::Status BadReply(const MetadataRequest& request, absl::string_view what);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_PREEMPTION_METADATA_SOURCE_H_
