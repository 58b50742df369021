#include "tests/fuzz/codec_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  skerry::compression::FuzzDecoder(skerry::compression::CodecId::kLloyd2,
                                   std::as_bytes(std::span(data, size)));
  return 0;
}
