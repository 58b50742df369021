// Any bytes as a .npy file: what is accepted can be read to its end.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/check.h"
#include "data/numpy_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto array =
      skerry::data::ParseNumpyFile(std::as_bytes(std::span(data, size)));
  if (!array.ok()) return 0;
  SKERRY_CHECK(array->bytes.size() <= size);
  std::vector<int32_t> tokens;
  const auto status = skerry::data::AppendTokens(
      *array, 0, array->size(), std::numeric_limits<int32_t>::max(), tokens);
  SKERRY_CHECK(tokens.size() == (status.ok() ? array->size() : 0));
  return 0;
}
