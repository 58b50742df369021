// worker/daemon/notice_source.h
//
// Asks one source of preemption notices, a cloud's metadata service or a file.
// A call may block.
#ifndef SKERRY_WORKER_DAEMON_NOTICE_SOURCE_H_
#define SKERRY_WORKER_DAEMON_NOTICE_SOURCE_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/http.h"
#include "worker/core/preemption/finding.h"
#include "worker/core/preemption/metadata_source.h"
#include "worker/core/preemption/source_spec.h"

namespace skerry::worker {

struct NoticeSource {
  std::string name;
  // Time between two looks.
  absl::Duration pause;
  // Blocks until the source has answered; one call at a time, on any thread.
  // `asks_on` of what it returns is false. Errors: Unavailable, no answer or
  // one that makes no sense; the message is a line about it.
  absl::AnyInvocable<absl::StatusOr<Finding>()> look;
};

struct NoticeSourceOptions {
  // http://HOST:PORT of the metadata service.
  std::string endpoint;
  runtime::HttpFetch fetch;
  // This machine's clock. Any thread.
  std::function<absl::Time()> wall_clock;
};

NoticeSource MakeNoticeSource(const NoticeSourceSpec& spec,
                              NoticeSourceOptions options);

// Holds the whole conversation until `source` has found something.
absl::StatusOr<Finding> AskMetadata(MetadataSource& source,
                                    const NoticeSourceOptions& options);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_NOTICE_SOURCE_H_
