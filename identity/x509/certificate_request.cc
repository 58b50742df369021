#include "identity/x509/certificate_request.h"

#include <openssl/crypto.h>
#include <openssl/err.h>

#include <cstddef>
#include <utility>

#include "base/status.h"
#include "identity/x509/openssl.h"

namespace skerry::identity {
namespace {

constexpr size_t kRequestBytesMax = 16 << 10;

}  // namespace

absl::StatusOr<std::string> MakeRequest(const PrivateKey& key) {
  const RequestPtr request(X509_REQ_new());
  if (request == nullptr || X509_REQ_set_version(request.get(), 0) != 1 ||
      X509_REQ_set_pubkey(request.get(), key.get()) != 1 ||
      X509_REQ_sign(request.get(), key.get(), EVP_sha256()) == 0) {
    return LibraryFailed("ask for a certificate");
  }
  unsigned char* der = nullptr;
  const int size = i2d_X509_REQ(request.get(), &der);
  if (size <= 0) return LibraryFailed("ask for a certificate");
  std::string text(reinterpret_cast<const char*>(der),
                   static_cast<size_t>(size));
  OPENSSL_free(der);
  return text;
}

absl::StatusOr<PublicKey> KeyOfRequest(std::string_view der) {
  if (der.size() > kRequestBytesMax) {
    return Malformed("the request for a certificate is too long");
  }
  const auto* at = reinterpret_cast<const unsigned char*>(der.data());
  const unsigned char* const end = at + der.size();
  const RequestPtr request(
      d2i_X509_REQ(nullptr, &at, static_cast<long>(der.size())));
  if (request == nullptr || at != end) {
    return Malformed("the request for a certificate cannot be read");
  }
  KeyPtr key(X509_REQ_get_pubkey(request.get()));
  SKERRY_RETURN_IF_ERROR(CheckIsP256(key.get()));
  if (X509_REQ_verify(request.get(), key.get()) != 1) {
    return Malformed(
        "the request for a certificate is not signed with its own key");
  }
  return PublicKey(std::move(key));
}

}  // namespace skerry::identity
