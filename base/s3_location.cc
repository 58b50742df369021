#include "base/s3_location.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace skerry {
namespace {

constexpr std::string_view kScheme = "s3://";
constexpr size_t kBucketMin = 3;
constexpr size_t kBucketMax = 63;
// A key has at most 1024 bytes, and checkpoints add their own names.
constexpr size_t kPrefixMax = 800;

bool IsNameByte(char c) {
  return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-';
}

bool IsBucket(std::string_view text) {
  return text.size() >= kBucketMin && text.size() <= kBucketMax &&
         absl::ascii_isalnum(text.front()) &&
         std::all_of(text.begin(), text.end(), IsNameByte);
}

bool IsProfile(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsNameByte);
}

bool IsPrefixPart(std::string_view part) {
  return !part.empty() && part != "." && part != ".." &&
         std::all_of(part.begin(), part.end(), [](unsigned char c) {
           return c > ' ' && c != 0x7f && c != '?' && c != '#';
         });
}

bool IsPrefix(std::string_view text) {
  while (true) {
    const size_t slash = text.find('/');
    if (!IsPrefixPart(text.substr(0, slash))) return false;
    if (slash == text.npos) return true;
    text.remove_prefix(slash + 1);
  }
}

absl::Status Wrong(std::string_view place, std::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat(std::string(place), ": ", std::string(what),
                   "; write s3://BUCKET/PREFIX or s3://PROFILE@BUCKET/PREFIX"));
}

}  // namespace

bool IsS3Place(std::string_view place) { return place.starts_with(kScheme); }

absl::StatusOr<S3Location> ParseS3Location(std::string_view place) {
  if (!IsS3Place(place)) return Wrong(place, "does not begin with s3://");
  std::string_view rest = place.substr(kScheme.size());
  S3Location found;
  const size_t slash = rest.find('/');
  std::string_view bucket = rest.substr(0, slash);
  if (const size_t at = bucket.find('@'); at != bucket.npos) {
    if (!IsProfile(bucket.substr(0, at))) {
      return Wrong(place, "has a profile that is no name");
    }
    found.profile = std::string(bucket.substr(0, at));
    bucket.remove_prefix(at + 1);
  }
  if (!IsBucket(bucket)) return Wrong(place, "names no bucket");
  found.bucket = std::string(bucket);
  std::string_view prefix =
      slash == rest.npos ? std::string_view() : rest.substr(slash + 1);
  while (prefix.ends_with('/')) prefix.remove_suffix(1);
  if (prefix.size() > kPrefixMax) return Wrong(place, "is too long");
  if (!prefix.empty() && !IsPrefix(prefix)) {
    return Wrong(place, "has a prefix that cannot be used");
  }
  found.prefix = std::string(prefix);
  return found;
}

}  // namespace skerry
