#include "runtime/s3/signature.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <span>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "base/sha256.h"

namespace skerry::runtime::s3 {
namespace {

constexpr char kAlgorithm[] = "AWS4-HMAC-SHA256";

std::string Hmac(std::string_view key, std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  SKERRY_CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                    reinterpret_cast<const unsigned char*>(text.data()),
                    text.size(), digest.data(), &size) != nullptr);
  return std::string(reinterpret_cast<const char*>(digest.data()), size);
}

std::string HashOf(std::string_view text) {
  return Sha256Hex(std::as_bytes(std::span(text)));
}

}  // namespace

std::string UriEncoded(std::string_view text, bool keep_slashes) {
  std::string encoded;
  for (const char c : text) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' ||
        c == '.' || c == '_' || c == '~' || (c == '/' && keep_slashes)) {
      encoded += c;
    } else {
      absl::StrAppendFormat(&encoded, "%%%02X", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

std::string QueryText(const absl::btree_map<std::string, std::string>& query) {
  return absl::StrJoin(query, "&", [](std::string* out, const auto& one) {
    absl::StrAppend(out, UriEncoded(one.first, false), "=",
                    UriEncoded(one.second, false));
  });
}

std::vector<std::pair<std::string, std::string>> SignedHeaders(
    const ToSign& request, const Credentials& credentials,
    const std::string& region, absl::Time now) {
  const absl::TimeZone utc = absl::UTCTimeZone();
  const std::string date = absl::FormatTime("%Y%m%d", now, utc);
  const std::string time = absl::FormatTime("%Y%m%dT%H%M%SZ", now, utc);

  absl::btree_map<std::string, std::string> headers = request.headers;
  headers["x-amz-date"] = time;
  headers["x-amz-content-sha256"] = request.payload_sha256;
  if (!credentials.session_token.empty()) {
    headers["x-amz-security-token"] = credentials.session_token;
  }
  // The client's library writes this one.
  absl::btree_map<std::string, std::string> all = headers;
  all["host"] = request.host;

  const std::string names =
      absl::StrJoin(all, ";", [](std::string* out, const auto& one) {
        absl::StrAppend(out, one.first);
      });
  std::string canonical = absl::StrCat(request.method, "\n", request.path, "\n",
                                       QueryText(request.query), "\n");
  for (const auto& [name, value] : all) {
    absl::StrAppend(&canonical, name, ":", value, "\n");
  }
  absl::StrAppend(&canonical, "\n", names, "\n", request.payload_sha256);

  const std::string scope = absl::StrCat(date, "/", region, "/s3/aws4_request");
  const std::string to_sign = absl::StrCat(kAlgorithm, "\n", time, "\n", scope,
                                           "\n", HashOf(canonical));
  const std::string key =
      Hmac(Hmac(Hmac(Hmac(absl::StrCat("AWS4", credentials.secret_key), date),
                     region),
                "s3"),
           "aws4_request");
  headers["authorization"] =
      absl::StrCat(kAlgorithm, " Credential=", credentials.access_key, "/",
                   scope, ",SignedHeaders=", names,
                   ",Signature=", absl::BytesToHexString(Hmac(key, to_sign)));
  return {headers.begin(), headers.end()};
}

}  // namespace skerry::runtime::s3
