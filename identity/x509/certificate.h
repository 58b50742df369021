// identity/x509/certificate.h
//
// What is believed of a certificate, and whether it leads to a CA that is
// trusted.
#ifndef SKERRY_IDENTITY_X509_CERTIFICATE_H_
#define SKERRY_IDENTITY_X509_CERTIFICATE_H_

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "identity/name.h"
#include "identity/x509/keys.h"
#include "identity/x509/openssl.h"

namespace skerry::identity {

class Certificate {
 public:
  // Reads all certificates of a PEM text, at most 8, in their order. Other
  // blocks are skipped. Errors: InvalidArgument when there is none or one
  // cannot be read.
  static absl::StatusOr<std::vector<Certificate>> ParsePem(
      std::string_view pem);
  // Takes over one. Errors: InvalidArgument.
  static absl::StatusOr<Certificate> Adopt(X509Ptr certificate);

  // The one URI among the alternative names. Errors: InvalidArgument when there
  // is none, several, or one that ParseName does not take. A CA has none.
  const absl::StatusOr<Name>& name() const { return name_; }
  // Upper-case hexadecimal digits, without leading zeros.
  const std::string& serial() const { return serial_; }
  absl::Time not_before() const { return not_before_; }
  absl::Time not_after() const { return not_after_; }
  // Whether it may sign others.
  bool is_authority() const { return is_authority_; }
  const PublicKey& public_key() const { return key_; }
  std::string Pem() const;
  X509* get() const { return certificate_.get(); }

 private:
  Certificate(X509Ptr certificate, PublicKey key);

  std::shared_ptr<X509> certificate_;
  PublicKey key_;
  absl::StatusOr<Name> name_;
  std::string serial_;
  absl::Time not_before_;
  absl::Time not_after_;
  bool is_authority_ = false;
};

// Checks that the first certificate of `chain` is valid now and leads, through
// the others, to one of `trusted`. Several are trusted while a CA is replaced.
// Errors: FailedPrecondition, in one line that says which of these fails.
absl::Status CheckChain(std::span<const Certificate> chain,
                        std::span<const Certificate> trusted, absl::Time now);

// Whether two thirds of the certificate's life are over.
bool IsDueForRenewal(const Certificate& certificate, absl::Time now);

// A pin as operators write it, sha256:HEX, for the public key of a CA.
std::string FormatPin(const PublicKey& key);
// Errors: InvalidArgument.
absl::Status CheckPin(std::string_view pin);

// Finds the CA with that pin in the chain that a server has sent, and checks
// the chain against this CA alone. Returns the CA. Errors: FailedPrecondition,
// in one line.
absl::StatusOr<Certificate> CheckPinned(std::span<const Certificate> chain,
                                        std::string_view pin, absl::Time now);

}  // namespace skerry::identity

#endif  // SKERRY_IDENTITY_X509_CERTIFICATE_H_
