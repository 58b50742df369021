// Any bytes as the replies of a cloud's metadata service, after a byte that
// chooses the cloud: a finding, or one line that names the request. No reply
// can write into a later request more than its own word.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/strings/ascii.h"
#include "base/check.h"
#include "worker/core/preemption/aws_notices.h"
#include "worker/core/preemption/azure_notices.h"
#include "worker/core/preemption/file_notice.h"
#include "worker/core/preemption/gcp_notices.h"

namespace {

using skerry::worker::MetadataReply;
using skerry::worker::MetadataRequest;
using skerry::worker::MetadataSource;
using skerry::worker::Notice;

std::unique_ptr<MetadataSource> SourceOf(uint8_t choice) {
  switch (choice % 3) {
    case 0:
      return std::make_unique<skerry::worker::AwsNotices>();
    case 1:
      return std::make_unique<skerry::worker::GcpNotices>();
    default:
      return std::make_unique<skerry::worker::AzureNotices>();
  }
}

void CheckNotice(const Notice& notice) {
  SKERRY_CHECK(notice.remaining >= absl::ZeroDuration());
  SKERRY_CHECK(notice.remaining <= absl::Hours(24 * 366));
  SKERRY_CHECK(!notice.what.empty());
}

void CheckRequest(const MetadataRequest& request) {
  for (const unsigned char c : request.path) {
    SKERRY_CHECK(absl::ascii_isgraph(c));
  }
  for (const auto& [name, value] : request.headers) {
    for (const unsigned char c : value) SKERRY_CHECK(absl::ascii_isgraph(c));
  }
}

// One reply: "CODE\nETAG\nDATE\nBODY", up to a byte of value 0.
MetadataReply ReplyOf(std::string_view text) {
  MetadataReply reply;
  const auto line = [&text] {
    const size_t end = text.find('\n');
    const std::string_view found = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    return std::string(found);
  };
  const std::string code = line();
  reply.code = code == "404" ? 404 : code == "401" ? 401 : 200;
  reply.headers["etag"] = line();
  reply.headers["date"] = line();
  reply.headers["metadata-flavor"] = "Google";
  reply.body = std::string(text);
  return reply;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const absl::Time now = absl::FromUnixSeconds(1'795'676'400);
  CheckNotice(skerry::worker::NoticeOfFile(
      absl::string_view(text.data(), text.size()), now));
  const std::unique_ptr<MetadataSource> source = SourceOf(data[0]);
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find('\0'));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    CheckRequest(source->Next());
    const auto found = source->OnReply(ReplyOf(one), now);
    if (!found.ok()) {
      SKERRY_CHECK(absl::IsUnavailable(found.status()));
      SKERRY_CHECK(found.status().message().find('\n') ==
                   absl::string_view::npos);
    } else if (found->notice.has_value()) {
      SKERRY_CHECK(!found->asks_on);
      CheckNotice(*found->notice);
    }
  }
  return 0;
}
