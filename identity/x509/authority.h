// identity/x509/authority.h
//
// The CA of a cluster. It writes certificates for the names that its owner
// gives, and vouches for the CA that takes its place.
#ifndef SKERRY_IDENTITY_X509_AUTHORITY_H_
#define SKERRY_IDENTITY_X509_AUTHORITY_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
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

  // Makes the CA that takes this one's place. Both have one subject, as a
  // certificate of VouchFor() must have it: only then it does not count as a
  // CA between this one and a leaf, which this one does not allow. What a
  // certificate says of its issuer's key tells the two apart. Errors: Internal.
  absl::StatusOr<Authority> MakeNext(absl::Duration lifetime,
                                     absl::Time now) const;
  // Writes that CA's key into a certificate of this one. Who trusts this CA
  // alone believes what `next` writes, if this certificate comes with it.
  // Errors: FailedPrecondition when this CA has expired; Internal.
  // Requires: `next` is from MakeNext().
  absl::StatusOr<Certificate> VouchFor(const Authority& next,
                                       absl::Time now) const;

  // Writes a certificate for `name` and `key`. It is valid from a few minutes
  // before `now`, for clocks that are behind, until `lifetime` after it, or
  // until the CA ends. Errors: FailedPrecondition when the CA has expired;
  // Internal. Requires: FormatName takes the name.
  absl::StatusOr<Certificate> Issue(const Name& name, const PublicKey& key,
                                    absl::Duration lifetime,
                                    absl::Time now) const;

  // Signed by itself.
  const Certificate& certificate() const { return certificate_; }
  const PrivateKey& key() const { return key_; }

 private:
  Authority(Certificate certificate, PrivateKey key)
      : certificate_(std::move(certificate)), key_(std::move(key)) {}
  // FailedPrecondition when it has expired.
  absl::Status CheckEnd(absl::Time now) const;

  Certificate certificate_;
  PrivateKey key_;
};

}  // namespace skerry::identity

#endif  // SKERRY_IDENTITY_X509_AUTHORITY_H_
