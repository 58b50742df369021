// Any bytes as the key of a fetch: one that is accepted keeps its bounds and is
// written back to the same bytes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.h"
#include "compression/frame.h"
#include "transport/fetch_wire.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto key = skerry::transport::DecodeFetchKey(bytes);
  if (!key.ok()) return 0;
  SKERRY_CHECK(key->fragment < skerry::compression::kFrameFragmentsMax);
  SKERRY_CHECK(key->span < skerry::compression::kFrameSpansMax);
  if (key->kind == skerry::protocol::PieceKey::Kind::kData) {
    SKERRY_CHECK(key->fragment == 0 && key->span == 0);
  }
  SKERRY_CHECK(
      std::ranges::equal(skerry::transport::EncodeFetchKey(*key), bytes));
  return 0;
}
