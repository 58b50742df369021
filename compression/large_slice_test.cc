// A slice of more than 2^31 values: indices that fit no int. Takes 17 GiB of
// memory and minutes, so nothing runs it unasked: tools/test large.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "compression/codec.h"
#include "compression/dense/dense_codec.h"
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
void RoundTrip(const Codec& codec, std::vector<float>& values) {
  for (size_t i = 0; i < values.size(); ++i) values[i] = ValueAt(i);
  std::vector<std::byte> payload;
  ASSERT_TRUE(codec.Encode(values, payload).ok());
  ASSERT_LE(payload.size(), codec.MaxEncodedBytes(values.size()));
  ASSERT_TRUE(codec.Decode(payload, values).ok());
}

// Blocks know nothing of each other, so a slice cut at one is enough.
void ExpectBlocksAsInSlicesOfTheirOwn(const Codec& codec,
                                      const std::vector<float>& values) {
  for (const size_t begin : {size_t{0}, kBorder - 4096}) {
    const size_t end = begin == 0 ? 8192 : kElements;
    const std::vector<float> part = ValuesFrom(begin, end);
    std::vector<std::byte> payload;
    std::vector<float> decoded(part.size());
    ASSERT_TRUE(codec.Encode(part, payload).ok());
    ASSERT_TRUE(codec.Decode(payload, decoded).ok());
    for (size_t i = begin; i < end; ++i) {
      ASSERT_EQ(values[i], decoded[i - begin]) << i;
    }
  }
}

// One scale for all: the root mean square of what is uniform in [-1, 1).
void ExpectOneScale(const std::vector<float>& values) {
  for (size_t i = 0; i < kElements; ++i) {
    ASSERT_NEAR(std::copysign(values[i], values[i] * ValueAt(i)),
                std::sqrt(1.0 / 3.0), 1e-4)
        << i;
  }
}

TEST(LargeSliceTest, DenseCodecsDoBeyondTheBorderWhatTheyDoAnywhere) {
  std::vector<float> values(kElements);
  for (const NamedCodec& one : DenseCodecs()) {
    SCOPED_TRACE(one.name);
    RoundTrip(*one.codec, values);
    if ((*FindDenseCodec(one.id))->BlockElements() == 0) {
      ExpectOneScale(values);
    } else {
      ExpectBlocksAsInSlicesOfTheirOwn(*one.codec, values);
    }
  }
}

// Expects that about one value in `ratio` was sent, and enough of those beyond
// the border. Values are uniform in [-1, 1), so whole chunks send only
// magnitudes above 1 - 2 / ratio, each with its sign.
void ExpectLargest(const std::vector<float>& values, double ratio) {
  size_t sent = 0;
  size_t beyond = 0;
  for (size_t i = 0; i < kElements; ++i) {
    if (values[i] == 0.0f) continue;
    ++sent;
    beyond += i >= kBorder ? 1 : 0;
    // The last chunk has only five values and may send all of them.
    if (i < kWholeChunks) {
      ASSERT_GT(std::copysign(ValueAt(i), values[i] * ValueAt(i)),
                1.0 - 2.0 / ratio)
          << i;
    }
  }
  const double share = ratio * static_cast<double>(sent) / kElements;
  EXPECT_GT(share, 0.5);
  EXPECT_LT(share, 2.0);
  EXPECT_GT(static_cast<double>(beyond), 3 * 4096 / ratio / 4);
}

TEST(LargeSliceTest, SparseCodecsSendTheLargestBeyondTheBorderToo) {
  std::vector<float> values(kElements);
  for (const char* family : {"chunk_top_k/", "top_k/", "threshold_top_k/"}) {
    for (const int ratio : {4, 64}) {
      const std::string name = absl::StrCat(family, ratio);
      SCOPED_TRACE(name);
      RoundTrip(**FindCodec(*ParseCodecName(name)), values);
      ExpectLargest(values, ratio);
    }
  }
}

}  // namespace
}  // namespace skerry::compression
