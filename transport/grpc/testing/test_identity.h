// transport/grpc/testing/test_identity.h
//
// A cluster's CA, and identities of it in files.
#ifndef SKERRY_TRANSPORT_GRPC_TESTING_TEST_IDENTITY_H_
#define SKERRY_TRANSPORT_GRPC_TESTING_TEST_IDENTITY_H_

#include <memory>
#include <string>

#include "absl/time/time.h"
#include "identity/name.h"
#include "identity/x509/authority.h"
#include "identity/x509/identity_folder.h"
#include "runtime/files.h"
#include "transport/grpc/credentials.h"

namespace skerry::transport {

class TestCluster {
 public:
  explicit TestCluster(const std::string& name);

  // A new key and a certificate for it that is valid for ever.
  identity::Identity Issue(const identity::Name& name) const;
  // Writes such an identity to `files` and makes credentials of it.
  std::shared_ptr<Credentials> Make(const identity::Name& name,
                                    runtime::Files& files) const;

  identity::Name Coordinator() const;
  identity::Name Worker(const std::string& name) const;
  identity::Name Operator(identity::Role role) const;

 private:
  const std::string name_;
  identity::Authority authority_;
};

// A time at which the certificates are valid.
absl::Time TestNow();

// Writes it to a folder of its own, whose files these are.
CredentialFiles WriteFiles(const identity::Identity& identity,
                           const std::string& folder, runtime::Files& files);

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_TESTING_TEST_IDENTITY_H_
