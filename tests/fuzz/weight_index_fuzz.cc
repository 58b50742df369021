// Any text as a weight index: what is accepted names plain files.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "model/safetensors/weight_files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto map = skerry::model::ParseWeightIndex(
      std::string_view(reinterpret_cast<const char*>(data), size));
  if (!map.ok()) return 0;
  for (const auto& [tensor, file] : *map) {
    SKERRY_CHECK(!file.empty() && file[0] != '.');
    SKERRY_CHECK(file.find('/') == std::string::npos);
  }
  return 0;
}
