// runtime/s3/answers.h
//
// Reads the XML that an object store answers with.
#ifndef SKERRY_RUNTIME_S3_ANSWERS_H_
#define SKERRY_RUNTIME_S3_ANSWERS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace skerry::runtime::s3 {

// A page of ListObjectsV2.
struct KeyPage {
  std::vector<std::string> keys;
  // Asks for the next page; empty for the last one.
  std::string next;
};

// A page of ListMultipartUploads.
struct UploadPage {
  struct Upload {
    std::string key;
    std::string id;
    friend bool operator==(const Upload&, const Upload&) = default;
  };
  std::vector<Upload> uploads;
  // Ask for the next page; empty for the last one.
  std::string next_key;
  std::string next_id;
};

struct Failure {
  std::string code;     // "NoSuchKey"
  std::string message;  // for people
};

// Errors: DataLoss for what is no such answer.
absl::StatusOr<KeyPage> ReadKeyPage(std::string_view xml);
absl::StatusOr<UploadPage> ReadUploadPage(std::string_view xml);
// The id in the answer to CreateMultipartUpload.
absl::StatusOr<std::string> ReadUploadId(std::string_view xml);

// None when it is no Error document.
std::optional<Failure> ReadFailure(std::string_view xml);

}  // namespace skerry::runtime::s3

#endif  // SKERRY_RUNTIME_S3_ANSWERS_H_
