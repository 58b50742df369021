#include "worker/core/preemption/file_notice.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "absl/strings/ascii.h"
#include "base/bounded_number.h"
#include "worker/core/preemption/metadata_source.h"

namespace skerry::worker {
namespace {

constexpr absl::Duration kNotice = absl::Seconds(30);
constexpr absl::Duration kNoticeMax = absl::Hours(24 * 365);

absl::Duration RemainingOf(absl::string_view text, absl::Time now) {
  const auto seconds =
      ReadNumber<double>(std::string_view(text.data(), text.size()),
                         {0, absl::ToDoubleSeconds(kNoticeMax)});
  if (seconds.ok()) return absl::Seconds(*seconds);
  const auto at = ReadRfc3339(text);
  if (!at.ok()) return kNotice;
  return std::clamp(*at - now, absl::ZeroDuration(), kNoticeMax);
}

}  // namespace

Notice NoticeOfFile(absl::string_view text, absl::Time now) {
  const absl::string_view said = absl::StripAsciiWhitespace(text);
  return {std::string(said), "the file is there", RemainingOf(said, now)};
}

}  // namespace skerry::worker
