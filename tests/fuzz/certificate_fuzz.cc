// Any bytes as the chain that a server sends: certificates, or one line.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/time/time.h"
#include "base/check.h"
#include "identity/x509/certificate.h"

namespace identity = skerry::identity;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto chain = identity::Certificate::ParsePem(text);
  if (!chain.ok()) {
    SKERRY_CHECK(chain.status().message().find('\n') ==
                 absl::string_view::npos);
    return 0;
  }
  for (const identity::Certificate& one : *chain) {
    SKERRY_CHECK(identity::Certificate::ParsePem(one.Pem()).ok());
    SKERRY_CHECK(!one.serial().empty());
  }
  const absl::Time now = absl::FromUnixSeconds(1'800'000'000);
  // It may well be trusted by itself; it must not crash.
  identity::CheckChain(*chain, std::span(&chain->back(), 1), now).IgnoreError();
  identity::CheckPinned(*chain, identity::FormatPin(chain->back().public_key()),
                        now)
      .status()
      .IgnoreError();
  return 0;
}
