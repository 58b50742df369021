#include "worker/core/preemption/gcp_notices.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace skerry::worker {
namespace {

constexpr char kPath[] = "/computeMetadata/v1/instance/preempted";
constexpr absl::Duration kTimeout = absl::Seconds(2);
// After so long the service answers even when nothing has changed.
constexpr absl::Duration kWaitForChange = absl::Seconds(60);
// Compute Engine gives that long from the notice on.
constexpr absl::Duration kNotice = absl::Seconds(30);
constexpr size_t kEtagBytesMax = 128;

const std::string* HeaderOf(const MetadataReply& reply, const char* name) {
  const auto found = reply.headers.find(name);
  return found == reply.headers.end() ? nullptr : &found->second;
}

// It becomes a part of a URL.
bool IsEtag(const std::string& text) {
  return !text.empty() && text.size() <= kEtagBytesMax &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return absl::ascii_isalnum(c) || c == '-' || c == '_';
         });
}

}  // namespace

MetadataRequest GcpNotices::Next() const {
  MetadataRequest request{
      "GET", kPath, {{"Metadata-Flavor", "Google"}}, kTimeout};
  if (!etag_.empty()) {
    absl::StrAppend(&request.path, "?wait_for_change=true&timeout_sec=",
                    absl::ToInt64Seconds(kWaitForChange), "&last_etag=", etag_);
    request.timeout += kWaitForChange;
  }
  return request;
}

absl::StatusOr<Finding> GcpNotices::OnReply(const MetadataReply& reply,
                                            absl::Time) {
  if (reply.code != 200) {
    return BadReply(Next(), absl::StrCat("answers HTTP ", reply.code));
  }
  const std::string* flavor = HeaderOf(reply, "metadata-flavor");
  if (flavor == nullptr || *flavor != "Google") {
    return BadReply(Next(), "is not answered by Google's metadata service");
  }
  const std::string* etag = HeaderOf(reply, "etag");
  if (etag == nullptr || !IsEtag(*etag)) {
    return BadReply(Next(), "has no etag");
  }
  const absl::string_view value = absl::StripAsciiWhitespace(reply.body);
  if (value != "TRUE" && value != "FALSE") {
    return BadReply(Next(), "says neither TRUE nor FALSE");
  }
  etag_ = *etag;
  if (value == "FALSE") return Finding{};
  return Finding{.notice = Notice{"preempted", "preempted", kNotice}};
}

}  // namespace skerry::worker
