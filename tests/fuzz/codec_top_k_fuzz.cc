#include <cstddef>
#include <cstdint>
#include <span>

#include "tests/fuzz/sparse_fuzz.h"

namespace skerry::compression {
namespace {

SparseCodecs Codecs() {
  SparseCodecs codecs;
  for (const SparseOptions& options : FuzzedOptions()) {
    codecs.push_back(*MakeTopK(options));
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
