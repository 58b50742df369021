#include "identity/x509/keys.h"

#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/pem.h>

#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

#include "base/check.h"
#include "base/sha256.h"
#include "base/status.h"

namespace skerry::identity {
namespace {

// More than any key of the curve takes, whatever stands around it.
constexpr size_t kKeyBytesMax = 16 << 10;

// A key that is encrypted is refused. Without this OpenSSL would ask the
// terminal.
int NoPassword(char*, int, int, void*) { return -1; }

}  // namespace

absl::Status CheckIsP256(const EVP_PKEY* key) {
  char group[32] = "";
  size_t length = 0;
  if (key == nullptr || EVP_PKEY_get_base_id(key) != EVP_PKEY_EC ||
      EVP_PKEY_get_group_name(key, group, sizeof(group), &length) != 1 ||
      std::strcmp(group, "prime256v1") != 0) {
    return Malformed("the key is not an ECDSA key of the curve P-256");
  }
  return absl::OkStatus();
}

std::string PublicKey::Sha256() const {
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(key_.get(), &der);
  SKERRY_CHECK(size > 0);
  const std::string hash =
      Sha256Hex(std::as_bytes(std::span(der, static_cast<size_t>(size))));
  OPENSSL_free(der);
  return hash;
}

absl::StatusOr<PrivateKey> PrivateKey::Make() {
  KeyPtr key(EVP_EC_gen("P-256"));
  if (key == nullptr) return LibraryFailed("make a key");
  return PrivateKey(std::move(key));
}

absl::StatusOr<PrivateKey> PrivateKey::FromPem(std::string_view pem) {
  if (pem.size() > kKeyBytesMax) return Malformed("the key's file is too long");
  const BioPtr source = ReadFrom(pem);
  KeyPtr key(
      PEM_read_bio_PrivateKey(source.get(), nullptr, NoPassword, nullptr));
  if (key == nullptr) {
    return Malformed("there is no unencrypted private key in PEM");
  }
  SKERRY_RETURN_IF_ERROR(CheckIsP256(key.get()));
  return PrivateKey(std::move(key));
}

std::string PrivateKey::Pem() const {
  const BioPtr sink = WriteToMemory();
  SKERRY_CHECK(PEM_write_bio_PKCS8PrivateKey(sink.get(), key_.get(), nullptr,
                                             nullptr, 0, nullptr,
                                             nullptr) == 1);
  return TextOf(sink);
}

PublicKey PrivateKey::Public() const {
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(key_.get(), &der);
  SKERRY_CHECK(size > 0);
  const unsigned char* at = der;
  KeyPtr key(d2i_PUBKEY(nullptr, &at, size));
  OPENSSL_free(der);
  SKERRY_CHECK(key != nullptr);
  return PublicKey(std::move(key));
}

}  // namespace skerry::identity
