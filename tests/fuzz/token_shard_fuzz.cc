// Any bytes as a token shard: what is accepted can be read to its end and is
// written back to the same size.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "data/token_shard.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using skerry::data::TokenShard;
  const auto shard = TokenShard::Parse(std::as_bytes(std::span(data, size)));
  if (!shard.ok()) return 0;
  std::vector<int32_t> wide(shard->size());
  shard->Read(0, wide);
  const int vocab_size = shard->token_bytes() == 2
                             ? skerry::data::kNarrowVocabMax
                             : skerry::data::kNarrowVocabMax + 1;
  const auto written = skerry::data::EncodeShardOf(wide, vocab_size);
  SKERRY_CHECK(written.ok() && written->size() == size);
  return 0;
}
