// runtime/s3/credentials.h
//
// Finds what requests to an object store need: keys, region and endpoint. They
// come from the environment and from the files that other tools of S3 read.
#ifndef SKERRY_RUNTIME_S3_CREDENTIALS_H_
#define SKERRY_RUNTIME_S3_CREDENTIALS_H_

#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace skerry::runtime::s3 {

// Secret. Nothing prints it.
struct Credentials {
  std::string access_key;
  std::string secret_key;
  std::string session_token;  // empty for keys that last
};

struct Settings {
  Credentials credentials;
  std::string region;
  // "https://HOST" or "http://HOST:PORT", without a slash at its end.
  std::string endpoint;
  // A file with the certificates to trust; empty for those of the system.
  std::string ca_file;
};

// What the caller can read: a variable, a file's text; none when there is none.
using Lookup = std::function<std::optional<std::string>(const std::string&)>;

// Without a profile: the keys are AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and
// AWS_SESSION_TOKEN, or else those of the profile AWS_PROFILE, or "default".
// With a profile, or without these variables: the keys of that section of
// AWS_SHARED_CREDENTIALS_FILE, or of $HOME/.aws/credentials.
//
// Region and endpoint: the profile's `region` and `endpoint_url` in the file
// AWS_CONFIG_FILE, or in $HOME/.aws/config; then AWS_REGION,
// AWS_DEFAULT_REGION, and AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL; then us-east-1
// and Amazon's endpoint of the region. AWS_CA_BUNDLE and `ca_bundle` name the
// file of certificates.
//
// Errors: FailedPrecondition when there are no keys; InvalidArgument for an
// endpoint that cannot be.
absl::StatusOr<Settings> FindSettings(const std::string& profile,
                                      const Lookup& variable,
                                      const Lookup& file);

}  // namespace skerry::runtime::s3

#endif  // SKERRY_RUNTIME_S3_CREDENTIALS_H_
