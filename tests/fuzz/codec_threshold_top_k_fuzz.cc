#include <cstddef>
#include <cstdint>
#include <span>

#include "compression/threshold/threshold_top_k.h"
#include "tests/fuzz/sparse_fuzz.h"

namespace skerry::compression {
namespace {

SparseCodecs Codecs() {
  SparseCodecs codecs;
  for (const SparseOptions& options : FuzzedOptions()) {
    codecs.push_back(*MakeThresholdTopK(
        options,
        [](std::span<const float> values, size_t target, Workspace& workspace) {
          return SidcoThreshold(values, target, {}, workspace);
        }));
  }
  return codecs;
}

}  // namespace
}  // namespace skerry::compression

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto codecs = skerry::compression::Codecs();
  skerry::compression::FuzzSparse(codecs, std::as_bytes(std::span(data, size)));
  return 0;
}
