// Any bytes as the index of a Megatron data set: what is accepted says how many
// tokens there are, and no file is too small to say that there are more.
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.h"
#include "data/megatron_index.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto index =
      skerry::data::ParseMegatronIndex(std::as_bytes(std::span(data, size)));
  if (!index.ok()) return 0;
  SKERRY_CHECK(index->sequences <= size / (sizeof(int32_t) + sizeof(int64_t)));
  SKERRY_CHECK(index->tokens <= index->sequences * 0x7fffffff);
  return 0;
}
