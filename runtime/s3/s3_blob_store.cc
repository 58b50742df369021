#include "runtime/s3/s3_blob_store.h"

#include <algorithm>
#include <span>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "runtime/blob_key.h"
#include "runtime/s3/answers.h"

namespace skerry::runtime::s3 {
namespace {

// The answer can be a failure in place of the bytes.
constexpr size_t kFailureBytesMax = 64 << 10;

absl::StatusOr<ObjectSize> SizeOf(Client& client, const std::string& object) {
  SKERRY_ASSIGN_OR_RETURN(const HttpReply reply,
                          client.Call({.method = "HEAD", .key = object}));
  ObjectSize size;
  const auto length = reply.headers.find("content-length");
  if (length == reply.headers.end() ||
      !absl::SimpleAtoi(length->second, &size.bytes)) {
    return absl::DataLossError(
        absl::StrCat("the object store tells no length of ", object));
  }
  const auto tag = reply.headers.find("etag");
  if (tag != reply.headers.end()) size.tag = tag->second;
  return size;
}

}  // namespace

S3BlobStore::S3BlobStore(Client client, std::string prefix,
                         const S3BlobStoreOptions& options)
    : client_(std::move(client)),
      prefix_(std::move(prefix)),
      options_(options) {}

std::string S3BlobStore::ObjectOf(const std::string& key) const {
  return prefix_.empty() ? key : absl::StrCat(prefix_, "/", key);
}

absl::Status S3BlobStore::Put(const std::string& key, ByteSpan bytes) {
  SKERRY_RETURN_IF_ERROR(CheckBlobKey(key));
  const std::string object = ObjectOf(key);
  if (bytes.size() > options_.part_bytes) return PutInParts(object, bytes);
  return client_.Call({.method = "PUT", .key = object, .body = bytes}).status();
}

absl::Status S3BlobStore::PutInParts(const std::string& object,
                                     ByteSpan bytes) {
  SKERRY_ASSIGN_OR_RETURN(const HttpReply begun,
                          client_.Call({.method = "POST",
                                        .key = object,
                                        .query = {{"uploads", ""}},
                                        .body = ByteSpan()}));
  SKERRY_ASSIGN_OR_RETURN(const std::string upload, ReadUploadId(begun.body));
  const absl::Status sent = SendParts(object, upload, bytes);
  // What cannot be removed now is removed by the next writer.
  if (!sent.ok()) AbortUpload(object, upload).IgnoreError();
  return sent;
}

absl::Status S3BlobStore::SendParts(const std::string& object,
                                    const std::string& upload, ByteSpan bytes) {
  std::string parts = "<CompleteMultipartUpload>";
  int number = 0;
  for (size_t at = 0; at < bytes.size(); at += options_.part_bytes) {
    ++number;
    const ByteSpan part =
        bytes.subspan(at, std::min(options_.part_bytes, bytes.size() - at));
    SKERRY_ASSIGN_OR_RETURN(
        const HttpReply reply,
        client_.Call({.method = "PUT",
                      .key = object,
                      .query = {{"partNumber", absl::StrCat(number)},
                                {"uploadId", upload}},
                      .body = part}));
    const auto tag = reply.headers.find("etag");
    if (tag == reply.headers.end()) {
      return absl::DataLossError(absl::StrCat(
          "the object store names no tag of part ", number, " of ", object));
    }
    absl::StrAppend(&parts, "<Part><PartNumber>", number, "</PartNumber><ETag>",
                    tag->second, "</ETag></Part>");
  }
  absl::StrAppend(&parts, "</CompleteMultipartUpload>");
  return Complete(object, upload, parts, bytes.size());
}

absl::Status S3BlobStore::Complete(const std::string& object,
                                   const std::string& upload,
                                   const std::string& parts_xml, size_t bytes) {
  int tries = 0;
  const absl::StatusOr<HttpReply> reply =
      client_.Call({.method = "POST",
                    .key = object,
                    .query = {{"uploadId", upload}},
                    .body = std::as_bytes(std::span(parts_xml))},
                   &tries);
  if (reply.ok()) {
    // The answer begins before the store is done, so it can be an error with a
    // good code.
    const std::optional<Failure> failure = ReadFailure(reply->body);
    if (!failure.has_value()) return absl::OkStatus();
    return absl::UnavailableError(absl::StrCat("object store, key ", object,
                                               ": ", failure->code, ": ",
                                               failure->message));
  }
  // The answer to an earlier try may have been lost.
  if (tries > 1 && absl::IsNotFound(reply.status())) {
    const absl::StatusOr<ObjectSize> there = SizeOf(client_, object);
    if (there.ok() && there->bytes == bytes) return absl::OkStatus();
  }
  return reply.status();
}

absl::Status S3BlobStore::AbortUpload(const std::string& object,
                                      const std::string& upload) {
  const absl::Status gone = client_
                                .Call({.method = "DELETE",
                                       .key = object,
                                       .query = {{"uploadId", upload}}})
                                .status();
  return absl::IsNotFound(gone) ? absl::OkStatus() : gone;
}

absl::StatusOr<std::vector<std::byte>> S3BlobStore::Get(
    const std::string& key) const {
  SKERRY_RETURN_IF_ERROR(CheckBlobKey(key));
  const std::string object = ObjectOf(key);
  SKERRY_ASSIGN_OR_RETURN(const ObjectSize size, SizeOf(client_, object));
  std::vector<std::byte> bytes;
  bytes.reserve(size.bytes);
  SKERRY_RETURN_IF_ERROR(EachPart(object, size, [&bytes](ByteSpan part) {
    bytes.insert(bytes.end(), part.begin(), part.end());
    return absl::OkStatus();
  }));
  return bytes;
}

absl::Status S3BlobStore::Read(
    const std::string& key,
    absl::FunctionRef<absl::Status(ByteSpan piece)> take) const {
  SKERRY_RETURN_IF_ERROR(CheckBlobKey(key));
  const std::string object = ObjectOf(key);
  SKERRY_ASSIGN_OR_RETURN(const ObjectSize size, SizeOf(client_, object));
  return EachPart(object, size, take);
}

absl::Status S3BlobStore::EachPart(
    const std::string& object, const ObjectSize& size,
    absl::FunctionRef<absl::Status(ByteSpan part)> take) const {
  for (size_t at = 0; at < size.bytes; at += options_.part_bytes) {
    const size_t some = std::min(options_.part_bytes, size.bytes - at);
    Request request{
        .method = "GET",
        .key = object,
        .headers = {{"range", absl::StrCat("bytes=", at, "-", at + some - 1)}},
        .reply_bytes_max = some + kFailureBytesMax};
    if (!size.tag.empty()) request.headers["if-match"] = size.tag;
    SKERRY_ASSIGN_OR_RETURN(const HttpReply reply, client_.Call(request));
    if (reply.body.size() != some) {
      return absl::DataLossError(absl::StrCat(
          "the object store sent ", reply.body.size(), " bytes of ", object,
          " where ", some, " were asked for"));
    }
    SKERRY_RETURN_IF_ERROR(take(std::as_bytes(std::span(reply.body))));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> S3BlobStore::List(
    const std::string& folder) const {
  if (!folder.empty()) SKERRY_RETURN_IF_ERROR(CheckBlobKey(folder));
  const std::string root = prefix_.empty() ? "" : absl::StrCat(prefix_, "/");
  const std::string begin =
      folder.empty() ? root : absl::StrCat(root, folder, "/");
  std::vector<std::string> keys;
  std::string next;
  do {
    Request request{.method = "GET",
                    .key = "",
                    .query = {{"list-type", "2"}, {"prefix", begin}}};
    if (!next.empty()) request.query["continuation-token"] = next;
    SKERRY_ASSIGN_OR_RETURN(const HttpReply reply, client_.Call(request));
    SKERRY_ASSIGN_OR_RETURN(KeyPage page, ReadKeyPage(reply.body));
    for (const std::string& object : page.keys) {
      if (!object.starts_with(begin)) continue;
      std::string key = object.substr(root.size());
      if (CheckBlobKey(key).ok()) keys.push_back(std::move(key));
    }
    next = std::move(page.next);
  } while (!next.empty());
  std::sort(keys.begin(), keys.end());
  return keys;
}

absl::Status S3BlobStore::Delete(const std::string& key) {
  SKERRY_RETURN_IF_ERROR(CheckBlobKey(key));
  const absl::Status gone =
      client_.Call({.method = "DELETE", .key = ObjectOf(key)}).status();
  return absl::IsNotFound(gone) ? absl::OkStatus() : gone;
}

absl::Status S3BlobStore::RemoveLeftovers() {
  const std::string root = prefix_.empty() ? "" : absl::StrCat(prefix_, "/");
  UploadPage page;
  do {
    Request request{.method = "GET",
                    .key = "",
                    .query = {{"uploads", ""}, {"prefix", root}}};
    if (!page.next_key.empty()) {
      request.query["key-marker"] = page.next_key;
      request.query["upload-id-marker"] = page.next_id;
    }
    SKERRY_ASSIGN_OR_RETURN(const HttpReply reply, client_.Call(request));
    SKERRY_ASSIGN_OR_RETURN(page, ReadUploadPage(reply.body));
    for (const UploadPage::Upload& one : page.uploads) {
      if (!one.key.starts_with(root)) continue;
      // Others of the bucket may keep uploads of their own there.
      if (!CheckBlobKey(one.key.substr(root.size())).ok()) continue;
      SKERRY_RETURN_IF_ERROR(AbortUpload(one.key, one.id));
    }
  } while (!page.next_key.empty());
  return absl::OkStatus();
}

}  // namespace skerry::runtime::s3
