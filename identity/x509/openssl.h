// identity/x509/openssl.h
//
// Owners for OpenSSL's objects, and PEM texts in memory.
#ifndef SKERRY_IDENTITY_X509_OPENSSL_H_
#define SKERRY_IDENTITY_X509_OPENSSL_H_

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace skerry::identity {

template <auto free>
struct FreeWith {
  template <typename T>
  void operator()(T* object) const {
    free(object);
  }
};

using BioPtr = std::unique_ptr<BIO, FreeWith<BIO_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, FreeWith<EVP_PKEY_free>>;
using X509Ptr = std::unique_ptr<X509, FreeWith<X509_free>>;
using RequestPtr = std::unique_ptr<X509_REQ, FreeWith<X509_REQ_free>>;

// A source of `text`, which outlives it.
BioPtr ReadFrom(std::string_view text);
// A sink in memory, and what was written to it.
BioPtr WriteToMemory();
std::string TextOf(const BioPtr& sink);

// Internal, for a call that fails only where the library or the machine is
// broken. Clears OpenSSL's queue of errors.
absl::Status LibraryFailed(std::string_view doing);
// InvalidArgument with `what`. Clears OpenSSL's queue of errors, which tells of
// parsing and not of what is wrong for the user.
absl::Status Malformed(std::string_view what);

}  // namespace skerry::identity

#endif  // SKERRY_IDENTITY_X509_OPENSSL_H_
