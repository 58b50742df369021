#include "transport/grpc/testing/test_identity.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace skerry::transport {
namespace {

// TLS itself looks at the machine's clock, which shows any time in this span.
const absl::Time kStart = absl::FromUnixSeconds(1'577'836'800);  // 2020
const absl::Duration kLifetime = absl::Hours(24 * 365 * 100);

identity::Authority MakeAuthority(const std::string& name) {
  auto authority = identity::Authority::Make(name, kLifetime, kStart);
  SKERRY_CHECK(authority.ok());
  return *std::move(authority);
}

}  // namespace

TestCluster::TestCluster(const std::string& name)
    : name_(name), authority_(MakeAuthority(name)) {}

identity::Identity TestCluster::Issue(const identity::Name& name) const {
  const auto key = identity::PrivateKey::Make();
  SKERRY_CHECK(key.ok());
  const auto certificate =
      authority_.Issue(name, key->Public(), kLifetime, kStart);
  SKERRY_CHECK(certificate.ok());
  const std::string ca = authority_.certificate().Pem();
  return {ca, certificate->Pem() + ca, key->Pem()};
}

std::shared_ptr<Credentials> TestCluster::Make(const identity::Name& name,
                                               runtime::Files& files) const {
  const identity::Identity identity = Issue(name);
  const std::string folder =
      absl::StrCat("/", identity::FormatName(name).substr(9));
  auto made = Credentials::FromFiles(WriteFiles(identity, folder, files), files,
                                     TestNow);
  SKERRY_CHECK(made.ok());
  return *std::move(made);
}

identity::Name TestCluster::Coordinator() const {
  return {name_, identity::CoordinatorName()};
}

identity::Name TestCluster::Worker(const std::string& name) const {
  return {name_, identity::WorkerName{"west", name}};
}

identity::Name TestCluster::Operator(identity::Role role) const {
  return {name_, identity::OperatorName{role, "ann"}};
}

absl::Time TestNow() { return kStart + absl::Hours(1); }

CredentialFiles WriteFiles(const identity::Identity& identity,
                           const std::string& folder, runtime::Files& files) {
  SKERRY_CHECK(identity::WriteIdentity(folder, identity, files).ok());
  return {folder + identity::kAuthoritiesFile, folder + identity::kChainFile,
          folder + identity::kKeyFile};
}

}  // namespace skerry::transport
