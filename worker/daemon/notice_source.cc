#include "worker/daemon/notice_source.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "runtime/posix/errno_hint.h"
#include "worker/core/preemption/aws_notices.h"
#include "worker/core/preemption/azure_notices.h"
#include "worker/core/preemption/file_notice.h"
#include "worker/core/preemption/gcp_notices.h"

namespace skerry::worker {
namespace {

// A conversation has two requests, and two more when a token has run out.
constexpr int kRequestsMax = 4;
constexpr absl::Duration kFilePause = absl::Seconds(1);

absl::Status CannotRead(const std::string& path) {
  return absl::UnavailableError(
      absl::StrCat("cannot read ", path, ": ", runtime::ErrnoText(errno)));
}

absl::StatusOr<Finding> LookAtFile(const std::string& path, absl::Time now) {
  // A pipe would keep the reader waiting.
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    if (errno == ENOENT) return Finding{};
    return CannotRead(path);
  }
  const absl::Cleanup closes = [file] { close(file); };
  char text[kNoticeFileBytesMax];
  const ssize_t got = read(file, text, sizeof(text));
  if (got < 0) return CannotRead(path);
  return Finding{.notice = NoticeOfFile(absl::string_view(text, got), now)};
}

std::unique_ptr<MetadataSource> MakeMetadataSource(NoticeSourceKind kind) {
  switch (kind) {
    case NoticeSourceKind::kAws:
      return std::make_unique<AwsNotices>();
    case NoticeSourceKind::kGcp:
      return std::make_unique<GcpNotices>();
    case NoticeSourceKind::kAzure:
      return std::make_unique<AzureNotices>();
    case NoticeSourceKind::kFile:
      break;
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<Finding> AskMetadata(MetadataSource& source,
                                    const NoticeSourceOptions& options) {
  for (int i = 0; i < kRequestsMax; ++i) {
    const MetadataRequest request = source.Next();
    const absl::StatusOr<runtime::HttpReply> reply = options.fetch(
        {request.method, absl::StrCat(options.endpoint, request.path),
         request.headers, request.timeout, kMetadataBytesMax});
    if (!reply.ok()) return BadReply(request, reply.status().message());
    SKERRY_ASSIGN_OR_RETURN(
        Finding found,
        source.OnReply({reply->code, reply->headers, reply->body},
                       options.wall_clock()));
    if (!found.asks_on) return found;
  }
  return BadReply(source.Next(), "is asked for again and again");
}

NoticeSource MakeNoticeSource(const NoticeSourceSpec& spec,
                              NoticeSourceOptions options) {
  std::unique_ptr<MetadataSource> metadata = MakeMetadataSource(spec.kind);
  if (metadata == nullptr) {
    return {spec.name, kFilePause,
            [path = spec.path, clock = std::move(options.wall_clock)] {
              return LookAtFile(path, clock());
            }};
  }
  const absl::Duration pause = metadata->pause();
  return {spec.name, pause,
          [metadata = std::move(metadata), options = std::move(options)] {
            return AskMetadata(*metadata, options);
          }};
}

}  // namespace skerry::worker
