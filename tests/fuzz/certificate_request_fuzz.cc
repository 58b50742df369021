// Any bytes as a request for a certificate, and as a private key: a key of the
// curve P-256, or one line that shows nothing of it.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "identity/x509/certificate_request.h"
#include "identity/x509/keys.h"

namespace identity = skerry::identity;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto key = identity::KeyOfRequest(bytes);
  if (key.ok()) {
    SKERRY_CHECK(identity::CheckIsP256(key->get()).ok());
  } else {
    SKERRY_CHECK(key.status().message().find('\n') == absl::string_view::npos);
  }
  const auto own = identity::PrivateKey::FromPem(bytes);
  if (own.ok()) SKERRY_CHECK(identity::CheckIsP256(own->get()).ok());
  return 0;
}
