// Any bytes as an operator's bundle: what is taken is read again as it was, and
// what is not is one line with its place.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "cli/bundle_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto bundle = skerry::cli::ParseBundle("b.yaml", text);
  if (bundle.ok()) {
    SKERRY_CHECK(!bundle->key.empty());
    return 0;
  }
  SKERRY_CHECK(absl::IsInvalidArgument(bundle.status()));
  SKERRY_CHECK(bundle.status().message().substr(0, 7) == "b.yaml:");
  return 0;
}
