// identity/x509/keys.h
//
// Keys. The private ones are of the curve P-256: no other kind is made or
// taken, because only with these does the choice of ciphers leave TLS 1.3
// alone.
#ifndef SKERRY_IDENTITY_X509_KEYS_H_
#define SKERRY_IDENTITY_X509_KEYS_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "identity/x509/openssl.h"

namespace skerry::identity {

class PublicKey {
 public:
  // Any kind will do: a CA from elsewhere has the key that it has.
  explicit PublicKey(KeyPtr key) : key_(std::move(key)) {}

  // 64 hex digits: the SHA-256 of the key as a SubjectPublicKeyInfo in DER. A
  // pin of the cluster's CA is this.
  std::string Sha256() const;
  EVP_PKEY* get() const { return key_.get(); }

 private:
  std::shared_ptr<EVP_PKEY> key_;
};

class PrivateKey {
 public:
  // Errors: Internal.
  static absl::StatusOr<PrivateKey> Make();
  // Reads one unencrypted key. Errors: InvalidArgument, which shows no part of
  // the text.
  static absl::StatusOr<PrivateKey> FromPem(std::string_view pem);

  // PKCS #8, unencrypted: a secret.
  std::string Pem() const;
  PublicKey Public() const;
  EVP_PKEY* get() const { return key_.get(); }

 private:
  explicit PrivateKey(KeyPtr key) : key_(std::move(key)) {}

  std::shared_ptr<EVP_PKEY> key_;
};

// Errors: InvalidArgument.
absl::Status CheckIsP256(const EVP_PKEY* key);

}  // namespace skerry::identity

#endif  // SKERRY_IDENTITY_X509_KEYS_H_
