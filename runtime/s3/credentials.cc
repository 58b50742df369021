#include "runtime/s3/credentials.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "runtime/s3/profile_file.h"

namespace skerry::runtime::s3 {
namespace {

constexpr char kDefaultProfile[] = "default";
constexpr char kDefaultRegion[] = "us-east-1";

std::string FirstOf(const Lookup& lookup,
                    std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const std::optional<std::string> value = lookup(name);
    if (value.has_value() && !value->empty()) return *value;
  }
  return "";
}

std::string ValueOf(const Profile& profile, const std::string& name) {
  const auto found = profile.find(name);
  return found == profile.end() ? "" : found->second;
}

std::string PathOf(const Lookup& variable, const char* name,
                   const char* in_home) {
  const std::string named = FirstOf(variable, {name});
  if (!named.empty()) return named;
  return absl::StrCat(FirstOf(variable, {"HOME"}), "/.aws/", in_home);
}

// The section of that name; empty when there is none.
Profile ReadProfile(const std::string& name, const std::string& path,
                    const Lookup& file) {
  const auto profiles = ReadProfiles(file(path).value_or(""));
  const auto found = profiles.find(name);
  return found == profiles.end() ? Profile() : found->second;
}

bool IsHostByte(unsigned char c) {
  return absl::ascii_isalnum(c) || c == '.' || c == '-' || c == ':' ||
         c == '[' || c == ']';
}

absl::StatusOr<std::string> CheckedEndpoint(std::string text) {
  while (!text.empty() && text.back() == '/') text.pop_back();
  std::string_view host = text;
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (host.starts_with(scheme)) host.remove_prefix(scheme.size());
  }
  if (host.size() == text.size() || host.empty() ||
      !std::all_of(host.begin(), host.end(), IsHostByte)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the endpoint of the object store is \"", absl::CHexEscape(text),
        "\"; write https://HOST or https://HOST:PORT"));
  }
  return text;
}

}  // namespace

absl::StatusOr<Settings> FindSettings(const std::string& profile,
                                      const Lookup& variable,
                                      const Lookup& file) {
  const std::string in_environment = FirstOf(variable, {"AWS_ACCESS_KEY_ID"});
  const bool from_environment = profile.empty() && !in_environment.empty();
  std::string name = profile;
  if (name.empty()) name = FirstOf(variable, {"AWS_PROFILE"});
  if (name.empty()) name = kDefaultProfile;

  const std::string keys_path =
      PathOf(variable, "AWS_SHARED_CREDENTIALS_FILE", "credentials");
  const Profile config =
      ReadProfile(name, PathOf(variable, "AWS_CONFIG_FILE", "config"), file);
  Settings found;
  Credentials& keys = found.credentials;
  if (from_environment) {
    keys = {in_environment, FirstOf(variable, {"AWS_SECRET_ACCESS_KEY"}),
            FirstOf(variable, {"AWS_SESSION_TOKEN"})};
  } else {
    Profile secret = config;
    for (const auto& [key, value] : ReadProfile(name, keys_path, file)) {
      secret[key] = value;
    }
    keys = {ValueOf(secret, "aws_access_key_id"),
            ValueOf(secret, "aws_secret_access_key"),
            ValueOf(secret, "aws_session_token")};
  }
  if (keys.access_key.empty() || keys.secret_key.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("there are no credentials for the object store: set "
                     "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write "
                     "aws_access_key_id and aws_secret_access_key under [",
                     name, "] of ", keys_path));
  }

  found.region = ValueOf(config, "region");
  if (found.region.empty()) {
    found.region = FirstOf(variable, {"AWS_REGION", "AWS_DEFAULT_REGION"});
  }
  if (found.region.empty()) found.region = kDefaultRegion;
  found.ca_file = ValueOf(config, "ca_bundle");
  if (found.ca_file.empty()) {
    found.ca_file = FirstOf(variable, {"AWS_CA_BUNDLE"});
  }
  std::string endpoint = ValueOf(config, "endpoint_url");
  if (endpoint.empty()) {
    endpoint = FirstOf(variable, {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"});
  }
  if (endpoint.empty()) {
    endpoint = absl::StrCat("https://s3.", found.region, ".amazonaws.com");
  }
  SKERRY_ASSIGN_OR_RETURN(found.endpoint, CheckedEndpoint(endpoint));
  return found;
}

}  // namespace skerry::runtime::s3
