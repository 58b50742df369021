// Any text as a checkpoint's manifest: what is accepted is valid and survives
// being written and read again. Most inputs do not have the hash that they
// name, so the text is also tried as the name of a file.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "checkpoint/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using skerry::checkpoint::Manifest;
  using skerry::checkpoint::ParseManifest;
  using skerry::checkpoint::SerializeManifest;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto parsed = ParseManifest(text);
  Manifest manifest;
  if (parsed.ok()) {
    manifest = *parsed;
  } else {
    manifest.job = "job";
    manifest.sequence = size;
    if (size % 2 == 0) manifest.layout_hash = size;
    manifest.files.push_back({std::string(text), size, std::string(64, '0')});
    if (!skerry::checkpoint::ValidateManifest(manifest).ok()) return 0;
  }
  SKERRY_CHECK(skerry::checkpoint::ValidateManifest(manifest).ok());
  const auto again = ParseManifest(SerializeManifest(manifest));
  SKERRY_CHECK(again.ok());
  SKERRY_CHECK(*again == manifest);
  return 0;
}
