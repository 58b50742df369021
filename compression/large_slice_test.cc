// A slice of more than 2^31 values: indices that fit no int. Takes 11 GiB of
// memory and minutes, so nothing runs it unasked:
//   bazel test //compression:large_slice_test
#include <cmath>
#include <string>
#include <vector>

#include "base/random.h"
#include "compression/codec.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

constexpr size_t kBorder = size_t{1} << 31;
constexpr size_t kWholeChunks = kBorder + 3 * 4096;
constexpr size_t kElements = kWholeChunks + 5;

// The same wherever it is asked for.
float ValueAt(size_t index) {
  const auto drawn = static_cast<int32_t>(Mix64(index));
  return static_cast<float>(drawn) * 0x1p-31f;
}

std::vector<float> ValuesFrom(size_t begin, size_t end) {
  std::vector<float> values(end - begin);
  for (size_t i = begin; i < end; ++i) values[i - begin] = ValueAt(i);
  return values;
}

// Encodes, and decodes into the memory of what was encoded.
void RoundTrip(CodecId id, std::vector<float>& values) {
  const Codec& codec = **FindCodec(id);
  for (size_t i = 0; i < values.size(); ++i) values[i] = ValueAt(i);
  std::vector<std::byte> payload;
  ASSERT_TRUE(codec.Encode(values, payload).ok());
  ASSERT_LE(payload.size(), codec.MaxEncodedBytes(values.size()));
  ASSERT_TRUE(codec.Decode(payload, values).ok());
}

TEST(LargeSliceTest, DenseCodecsDoBeyondTheBorderWhatTheyDoAnywhere) {
  std::vector<float> values(kElements);
  for (const CodecId id :
       {CodecId::kInt8Block, CodecId::kSign1, CodecId::kNf4}) {
    SCOPED_TRACE(CodecName(id));
    RoundTrip(id, values);
    // Blocks know nothing of each other, so a slice cut at one is enough.
    for (const size_t begin : {size_t{0}, kBorder - 4096}) {
      const size_t end = begin == 0 ? 8192 : kElements;
      const std::vector<float> part = ValuesFrom(begin, end);
      std::vector<std::byte> payload;
      std::vector<float> decoded(part.size());
      ASSERT_TRUE((*FindCodec(id))->Encode(part, payload).ok());
      ASSERT_TRUE((*FindCodec(id))->Decode(payload, decoded).ok());
      for (size_t i = begin; i < end; ++i) {
        ASSERT_EQ(values[i], decoded[i - begin]) << i;
      }
    }
  }
}

TEST(LargeSliceTest, SparseCodecsSendTheLargestBeyondTheBorderToo) {
  std::vector<float> values(kElements);
  for (const char* name :
       {"chunk_top_k/64", "top_k/64", "threshold_top_k/64"}) {
    SCOPED_TRACE(name);
    RoundTrip(*ParseCodecName(name), values);
    size_t sent = 0;
    size_t beyond = 0;
    for (size_t i = 0; i < kElements; ++i) {
      if (values[i] == 0.0f) continue;
      ++sent;
      beyond += i >= kBorder ? 1 : 0;
      // One in 64 of what is uniform in [-1, 1] is above 0.984; a chunk's own
      // 64th is not far from it. Of the five in the last chunk all are sent.
      if (i < kWholeChunks) {
        ASSERT_GT(values[i] * ValueAt(i), 0.85) << i;
      }
    }
    const double share = 64.0 * static_cast<double>(sent) / kElements;
    EXPECT_GT(share, 0.5);
    EXPECT_LT(share, 2.0);
    EXPECT_GT(beyond, 50u);
  }
}

}  // namespace
}  // namespace skerry::compression
