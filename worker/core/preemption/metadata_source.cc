#include "worker/core/preemption/metadata_source.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/bounded_number.h"

namespace skerry::worker {
namespace {

constexpr char kHttpDate[] = "%a, %d %b %Y %H:%M:%S GMT";

absl::StatusOr<absl::Time> ReadTime(const char* format,
                                    absl::string_view text) {
  absl::Time at;
  std::string error;
  if (absl::ParseTime(format, text, &at, &error) &&
      at != absl::InfiniteFuture() && at != absl::InfinitePast()) {
    return at;
  }
  return absl::InvalidArgumentError(
      absl::StrCat(QuotedForMessage(std::string_view(text.data(), text.size())),
                   " is no time"));
}

}  // namespace

absl::StatusOr<absl::Time> ReadRfc3339(absl::string_view text) {
  return ReadTime(absl::RFC3339_full, text);
}

absl::StatusOr<absl::Time> ReadHttpDate(absl::string_view text) {
  return ReadTime(kHttpDate, text);
}

absl::Duration TimeUntil(absl::Time at, const MetadataReply& reply,
                         absl::Time now, absl::Duration most) {
  const auto date = reply.headers.find("date");
  if (date != reply.headers.end()) {
    now = ReadHttpDate(date->second).value_or(now);
  }
  return std::clamp(at - now, absl::ZeroDuration(), most);
}

absl::Status BadReply(const MetadataRequest& request, absl::string_view what) {
  const std::string path = request.path.substr(0, request.path.find('?'));
  return absl::UnavailableError(
      absl::StrCat(request.method, " ", path, ": ", what));
}

}  // namespace skerry::worker
