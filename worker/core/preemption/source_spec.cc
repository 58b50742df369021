#include "worker/core/preemption/source_spec.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/bounded_number.h"

namespace skerry::worker {
namespace {

std::string Quoted(absl::string_view text) {
  return QuotedForMessage(std::string_view(text.data(), text.size()));
}

}  // namespace

absl::StatusOr<NoticeSourceSpec> ReadNoticeSource(absl::string_view text) {
  const std::string name(text);
  if (text == "aws") return NoticeSourceSpec{NoticeSourceKind::kAws, name, ""};
  if (text == "gcp") return NoticeSourceSpec{NoticeSourceKind::kGcp, name, ""};
  if (text == "azure") {
    return NoticeSourceSpec{NoticeSourceKind::kAzure, name, ""};
  }
  if (absl::ConsumePrefix(&text, "file:") && !text.empty()) {
    return NoticeSourceSpec{NoticeSourceKind::kFile, name, std::string(text)};
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "has to be aws, gcp, azure or file:PATH, not ", Quoted(name)));
}

absl::Status CheckMetadataEndpoint(absl::string_view url) {
  const std::string given = Quoted(url);
  const bool plain = std::all_of(url.begin(), url.end(), [](unsigned char c) {
    return absl::ascii_isgraph(c) && c != '?' && c != '#' && c != '@';
  });
  if (absl::ConsumePrefix(&url, "http://") && plain && !url.empty() &&
      url.front() != '/' && url.back() != '/') {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "has to be http://HOST or http://HOST:PORT, without a slash at the "
      "end, not ",
      given));
}

}  // namespace skerry::worker
