// Any text as a data manifest: what is accepted is valid and survives being
// written and read again.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "data/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto manifest = skerry::data::ParseManifest(
      std::string_view(reinterpret_cast<const char*>(data), size));
  if (!manifest.ok()) return 0;
  SKERRY_CHECK(skerry::data::ValidateManifest(*manifest).ok());
  const auto again =
      skerry::data::ParseManifest(skerry::data::SerializeManifest(*manifest));
  SKERRY_CHECK(again.ok());
  SKERRY_CHECK(again->shards == manifest->shards);
  return 0;
}
