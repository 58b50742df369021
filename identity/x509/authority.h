// identity/x509/authority.h
//
// The CA of a cluster. It writes certificates for the names that its owner
// gives.
#ifndef SKERRY_IDENTITY_X509_AUTHORITY_H_
#define SKERRY_IDENTITY_X509_AUTHORITY_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "identity/name.h"
#include "identity/x509/certificate.h"
#include "identity/x509/keys.h"

namespace skerry::identity {

// Each certificate carries this beside its name, and clients take it for the
// name of the host that they reach. Hosts have no part in who is who.
inline constexpr char kHostName[] = "skerry";

class Authority {
 public:
  // Makes a new CA. Errors: InvalidArgument for a name that CheckCluster
  // refuses; Internal.
  static absl::StatusOr<Authority> Make(std::string_view cluster,
                                        absl::Duration lifetime,
                                        absl::Time now);
  // Errors: InvalidArgument; FailedPrecondition when the key is not the
  // certificate's, or it is no CA.
  static absl::StatusOr<Authority> FromPem(std::string_view certificate,
                                           std::string_view key);

  // Writes a certificate for `name` and `key`. It is valid from a few minutes
  // before `now`, for clocks that are behind, until `lifetime` after it, or
  // until the CA ends. Errors: FailedPrecondition when the CA has expired;
  // Internal. Requires: FormatName takes the name.
  absl::StatusOr<Certificate> Issue(const Name& name, const PublicKey& key,
                                    absl::Duration lifetime,
                                    absl::Time now) const;

  const Certificate& certificate() const { return certificate_; }
  const PrivateKey& key() const { return key_; }

 private:
  Authority(Certificate certificate, PrivateKey key)
      : certificate_(std::move(certificate)), key_(std::move(key)) {}

  Certificate certificate_;
  PrivateKey key_;
};

}  // namespace skerry::identity

#endif  // SKERRY_IDENTITY_X509_AUTHORITY_H_
