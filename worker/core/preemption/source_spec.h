// worker/core/preemption/source_spec.h
//
// Reads how a command line names a source of preemption notices.
#ifndef SKERRY_WORKER_CORE_PREEMPTION_SOURCE_SPEC_H_
#define SKERRY_WORKER_CORE_PREEMPTION_SOURCE_SPEC_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace skerry::worker {

enum class NoticeSourceKind { kAws, kGcp, kAzure, kFile };

struct NoticeSourceSpec {
  NoticeSourceKind kind = NoticeSourceKind::kFile;
  std::string name;  // as it was written
  std::string path;  // of kFile
};

// Where every cloud's metadata service is, seen from its machines.
inline constexpr char kMetadataEndpoint[] = "http://169.254.169.254";

// Reads aws, gcp, azure or file:PATH. InvalidArgument otherwise, with a line
// that says what can be written.
absl::StatusOr<NoticeSourceSpec> ReadNoticeSource(absl::string_view text);

// OK for http://HOST, with or without a port and a path. InvalidArgument
// otherwise, with a line that says what to write.
absl::Status CheckMetadataEndpoint(absl::string_view url);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_PREEMPTION_SOURCE_SPEC_H_
