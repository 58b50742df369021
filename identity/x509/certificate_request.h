// identity/x509/certificate_request.h
//
// How a key asks for a certificate. Only the key is taken from a request: whose
// certificate it becomes is for the coordinator to say.
#ifndef SKERRY_IDENTITY_X509_CERTIFICATE_REQUEST_H_
#define SKERRY_IDENTITY_X509_CERTIFICATE_REQUEST_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "identity/x509/keys.h"

namespace skerry::identity {

// A PKCS #10 request in DER, which the key has signed. Errors: Internal.
absl::StatusOr<std::string> MakeRequest(const PrivateKey& key);

// The key of a request. The request has to be signed with it, so that nobody
// gets a certificate for a key that is another's. Errors: InvalidArgument.
absl::StatusOr<PublicKey> KeyOfRequest(std::string_view der);

}  // namespace skerry::identity

#endif  // SKERRY_IDENTITY_X509_CERTIFICATE_REQUEST_H_
