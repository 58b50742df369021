// Any bytes as the refusal of a fetch: one that is accepted is an error with
// words that print, and is written back to the same bytes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.h"
#include "transport/fetch_wire.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto refused = skerry::transport::DecodeFetchRefusal(bytes);
  if (!refused.has_value()) return 0;
  SKERRY_CHECK(!refused->ok());
  SKERRY_CHECK(std::ranges::equal(
      skerry::transport::EncodeFetchRefusal(*refused), bytes));
  return 0;
}
