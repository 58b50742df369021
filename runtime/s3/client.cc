#include "runtime/s3/client.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/sha256.h"
#include "runtime/s3/answers.h"
#include "runtime/s3/signature.h"

namespace skerry::runtime::s3 {
namespace {

// A part of 64 MiB takes so long at 1 Mbit/s.
constexpr absl::Duration kCallMax = absl::Minutes(10);
constexpr absl::Duration kStalledMax = absl::Seconds(30);
// The pause before try n is drawn between 0 and min(kPauseMax, 2^n kPause).
constexpr absl::Duration kPause = absl::Milliseconds(100);
constexpr absl::Duration kPauseMax = absl::Seconds(10);

// Whether the same request may do better in a moment.
bool IsPassing(const absl::Status& status) {
  return absl::IsUnavailable(status);
}

std::string HostOf(const std::string& endpoint) {
  return endpoint.substr(endpoint.find("//") + 2);
}

}  // namespace

Client::Client(Settings settings, std::string bucket, HttpPorts ports)
    : settings_(std::move(settings)),
      bucket_(std::move(bucket)),
      ports_(std::move(ports)),
      random_(ports_.seed) {}

absl::StatusOr<HttpReply> Client::Call(const Request& request, int* tries) {
  absl::StatusOr<HttpReply> reply;
  for (int i = 0; i < kTries; ++i) {
    if (i > 0) {
      ports_.pause(random_.Uniform() * std::min(kPauseMax, kPause * (1 << i)));
    }
    if (tries != nullptr) *tries = i + 1;
    reply = Once(request);
    if (!IsPassing(reply.status())) return reply;
  }
  return reply;
}

absl::StatusOr<HttpReply> Client::Once(const Request& request) {
  std::string path = absl::StrCat("/", bucket_);
  if (!request.key.empty()) absl::StrAppend(&path, "/", request.key);
  ToSign to_sign{.method = request.method,
                 .host = HostOf(settings_.endpoint),
                 .path = UriEncoded(path, true),
                 .query = request.query,
                 .headers = request.headers,
                 .payload_sha256 = Sha256Hex(
                     request.body.value_or(std::span<const std::byte>()))};
  HttpRequest http;
  http.method = request.method;
  http.url = absl::StrCat(settings_.endpoint, to_sign.path);
  if (!request.query.empty()) {
    absl::StrAppend(&http.url, "?", QueryText(request.query));
  }
  http.headers = SignedHeaders(to_sign, settings_.credentials, settings_.region,
                               ports_.now());
  http.timeout = kCallMax;
  http.stalled_max = kStalledMax;
  http.body_bytes_max = request.reply_bytes_max;
  http.body = request.body;
  http.ca_file = settings_.ca_file;
  absl::StatusOr<HttpReply> reply = ports_.fetch(http);
  if (!reply.ok()) {
    return absl::Status(
        reply.status().code(),
        absl::StrCat("object store ", settings_.endpoint, ", bucket ", bucket_,
                     ": ", reply.status().message()));
  }
  if (reply->code / 100 == 2) return reply;
  return ErrorOf(request, *reply);
}

absl::Status Client::ErrorOf(const Request& request,
                             const HttpReply& reply) const {
  const Failure failure =
      ReadFailure(reply.body)
          .value_or(Failure{absl::StrCat("HTTP ", reply.code), ""});
  std::string what =
      absl::StrCat("object store ", settings_.endpoint, ", bucket ", bucket_);
  if (!request.key.empty()) absl::StrAppend(&what, ", key ", request.key);
  absl::StrAppend(&what, ": ", failure.code);
  if (!failure.message.empty()) absl::StrAppend(&what, ": ", failure.message);
  const std::string& code = failure.code;
  if (reply.code >= 500 || reply.code == 429 || code == "RequestTimeout") {
    return absl::UnavailableError(what);
  }
  if (code == "NoSuchBucket") {
    return absl::FailedPreconditionError(
        absl::StrCat(what, "; make the bucket, or name another one"));
  }
  if (code == "RequestTimeTooSkewed") {
    return absl::FailedPreconditionError(
        absl::StrCat(what, "; set this machine's clock"));
  }
  if (reply.code == 404) return absl::NotFoundError(what);
  if (reply.code == 412) return absl::AbortedError(what);
  if (reply.code == 401 || reply.code == 403) {
    return absl::PermissionDeniedError(what);
  }
  if (reply.code / 100 == 3 || code == "AuthorizationHeaderMalformed") {
    return absl::FailedPreconditionError(absl::StrCat(
        what, "; check region (now ", settings_.region, ") and endpoint"));
  }
  return absl::FailedPreconditionError(what);
}

}  // namespace skerry::runtime::s3
