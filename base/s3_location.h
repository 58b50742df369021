// base/s3_location.h
//
// A place in an object store, as job files and command lines write it:
// s3://BUCKET/PREFIX or s3://PROFILE@BUCKET/PREFIX.
#ifndef SKERRY_BASE_S3_LOCATION_H_
#define SKERRY_BASE_S3_LOCATION_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace skerry {

struct S3Location {
  // Names the credentials, as in AWS_PROFILE. Empty for those of the
  // environment.
  std::string profile;
  std::string bucket;
  // Without slashes at its ends; empty for the whole bucket.
  std::string prefix;
};

// Whether a place is meant as one in an object store.
bool IsS3Place(std::string_view place);

// Errors: InvalidArgument, with one line that says what is wrong.
absl::StatusOr<S3Location> ParseS3Location(std::string_view place);

}  // namespace skerry

#endif  // SKERRY_BASE_S3_LOCATION_H_
