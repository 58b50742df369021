#include <cstddef>
#include <cstdint>
#include <span>

#include "compression/chunk_top_k/chunk_top_k.h"
#include "tests/fuzz/sparse_fuzz.h"

namespace skerry::compression {
namespace {

SparseCodecs Codecs() {
  SparseCodecs codecs;
  for (const size_t kept : {1, 3, 64, 1024, 4096}) {
    codecs.push_back(*MakeChunkTopK(kept));
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
