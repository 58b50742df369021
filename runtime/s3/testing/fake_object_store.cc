#include "runtime/s3/testing/fake_object_store.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace skerry::runtime::s3 {
namespace {

std::string Decoded(absl::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      unsigned value = 0;
      if (absl::SimpleHexAtoi(text.substr(i + 1, 2), &value)) {
        decoded += static_cast<char>(value);
      }
      i += 2;
    } else {
      decoded += text[i];
    }
  }
  return decoded;
}

HttpReply Reply(int code, std::string body = "") {
  HttpReply reply;
  reply.code = code;
  reply.body = std::move(body);
  return reply;
}

HttpReply Error(int code, absl::string_view name) {
  return Reply(code, absl::StrCat("<?xml version=\"1.0\"?><Error><Code>", name,
                                  "</Code><Message>no</Message></Error>"));
}

std::string HeaderOf(const HttpRequest& request, const std::string& name) {
  for (const auto& [key, value] : request.headers) {
    if (key == name) return value;
  }
  return "";
}

std::string BodyOf(const HttpRequest& request) {
  if (!request.body.has_value()) return "";
  return {reinterpret_cast<const char*>(request.body->data()),
          request.body->size()};
}

std::string TagOf(const std::string& content) {
  return absl::StrCat("\"", std::hash<std::string>()(content), "\"");
}

}  // namespace

absl::StatusOr<HttpReply> FakeObjectStore::Fetch(const HttpRequest& request) {
  const size_t number = requests++;
  absl::StatusOr<HttpReply> done = Answer(request);
  if (fault != nullptr) done = fault(number, std::move(done));
  if (done.ok() && done->body.size() > request.body_bytes_max) {
    return absl::UnavailableError("the reply is too long");
  }
  if (done.ok() && request.method == "HEAD") done->body.clear();
  return done;
}

HttpReply FakeObjectStore::Answer(const HttpRequest& request) {
  absl::string_view rest = request.url;
  rest.remove_prefix(rest.find("//") + 2);
  rest.remove_prefix(rest.find('/') + 1);
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(rest, absl::MaxSplits('?', 1));
  absl::btree_map<std::string, std::string> query;
  for (const absl::string_view one :
       absl::StrSplit(parts.second, '&', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(one, absl::MaxSplits('=', 1));
    query[Decoded(pair.first)] = Decoded(pair.second);
  }
  const std::pair<std::string, std::string> place =
      absl::StrSplit(parts.first, absl::MaxSplits('/', 1));
  if (HeaderOf(request, "authorization").empty()) {
    return Error(403, "AccessDenied");
  }
  if (place.first != bucket_) return Error(404, "NoSuchBucket");
  if (place.second.empty()) return OfBucket(request.method, query);
  return OfObject(request, Decoded(place.second), query);
}

HttpReply FakeObjectStore::OfBucket(
    const std::string& method,
    const absl::btree_map<std::string, std::string>& query) {
  if (method != "GET") return Error(405, "MethodNotAllowed");
  const auto of = [&query](const std::string& name) {
    const auto found = query.find(name);
    return found == query.end() ? "" : found->second;
  };
  const std::string prefix = of("prefix");
  size_t listed = 0;
  if (query.contains("uploads")) {
    std::string xml =
        "<ListMultipartUploadsResult "
        "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
    for (const auto& [id, upload] : uploads) {
      if (!absl::StartsWith(upload.key, prefix) ||
          id <= of("upload-id-marker")) {
        continue;
      }
      absl::StrAppend(&xml, "<Upload><Key>", upload.key, "</Key><UploadId>", id,
                      "</UploadId></Upload>");
      if (++listed == page_keys) {
        absl::StrAppend(&xml, "<IsTruncated>true</IsTruncated><NextKeyMarker>",
                        upload.key, "</NextKeyMarker><NextUploadIdMarker>", id,
                        "</NextUploadIdMarker>");
        break;
      }
    }
    return Reply(200, absl::StrCat(xml, "</ListMultipartUploadsResult>"));
  }
  std::string xml =
      "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
  for (const auto& [key, content] : objects) {
    if (!absl::StartsWith(key, prefix) || key <= of("continuation-token")) {
      continue;
    }
    absl::StrAppend(&xml, "<Contents><Key>", key, "</Key></Contents>");
    if (++listed == page_keys) {
      absl::StrAppend(&xml,
                      "<IsTruncated>true</IsTruncated><NextContinuationToken>",
                      key, "</NextContinuationToken>");
      break;
    }
  }
  return Reply(200, absl::StrCat(xml, "</ListBucketResult>"));
}

HttpReply FakeObjectStore::OfObject(
    const HttpRequest& request, const std::string& key,
    const absl::btree_map<std::string, std::string>& query) {
  const auto upload_id = query.find("uploadId");
  if (upload_id != query.end()) {
    const auto upload = uploads.find(upload_id->second);
    if (upload == uploads.end()) return Error(404, "NoSuchUpload");
    if (request.method == "PUT") {
      int number = 0;
      (void)absl::SimpleAtoi(query.at("partNumber"), &number);
      upload->second.parts[number] = BodyOf(request);
      HttpReply reply = Reply(200);
      reply.headers["etag"] = TagOf(BodyOf(request));
      return reply;
    }
    if (request.method == "POST") {
      std::string whole;
      for (const auto& [number, part] : upload->second.parts) whole += part;
      objects[key] = whole;
    }
    uploads.erase(upload);
    return Reply(
        request.method == "POST" ? 200 : 204,
        request.method == "POST" ? "<CompleteMultipartUploadResult/>" : "");
  }
  if (query.contains("uploads")) {
    const std::string id = absl::StrCat("upload-", 1000 + uploads_made_++);
    uploads[id].key = key;
    return Reply(200,
                 absl::StrCat("<InitiateMultipartUploadResult><UploadId>", id,
                              "</UploadId></InitiateMultipartUploadResult>"));
  }
  if (request.method == "PUT") {
    objects[key] = BodyOf(request);
    return Reply(200);
  }
  if (request.method == "DELETE") {
    objects.erase(key);
    return Reply(204);
  }
  const auto found = objects.find(key);
  if (found == objects.end()) return Error(404, "NoSuchKey");
  const std::string match = HeaderOf(request, "if-match");
  if (!match.empty() && match != TagOf(found->second)) {
    return Error(412, "PreconditionFailed");
  }
  HttpReply reply = Reply(200, found->second);
  reply.headers["content-length"] = absl::StrCat(found->second.size());
  reply.headers["etag"] = TagOf(found->second);
  const std::string range = HeaderOf(request, "range");
  if (!range.empty()) {
    const std::pair<std::string, std::string> ends =
        absl::StrSplit(range.substr(sizeof("bytes=") - 1), '-');
    size_t first = 0;
    size_t last = 0;
    (void)absl::SimpleAtoi(ends.first, &first);
    (void)absl::SimpleAtoi(ends.second, &last);
    if (first >= found->second.size()) return Error(416, "InvalidRange");
    reply.code = 206;
    reply.body = found->second.substr(first, last - first + 1);
  }
  return reply;
}

}  // namespace skerry::runtime::s3
