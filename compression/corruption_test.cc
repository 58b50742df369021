// Damage on the way: a frame that any bit of differs is refused by its
// checksums; and should a liar fit the checksums, by the codec, or it decodes
// to finite values, the same in one piece as in parts. Some slices are of
// several parts, and so of several groups of chunks.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/hash.h"
#include "base/random.h"
#include "compression/frame.h"
#include "compression/parts.h"
#include "compression/testing/backward_executor.h"
#include "compression/testing/conformance_cases.h"
#include "compression/workspace.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

using Bytes = std::vector<std::byte>;

constexpr uint64_t kSeed = 99;
constexpr size_t kElements = 500;
// More than the ranges that one thread reads groups of chunks in.
constexpr size_t kSeveralParts = 9 * kPartElements + 5000;
constexpr int kTrials = 1'000'000;
constexpr int kForgedTrials = 200'000;
// One trial in so many is with a slice of several parts.
constexpr int kSeldom = 200;

std::vector<float> Values(size_t count) {
  Random random(kSeed);
  std::vector<float> values(count);
  for (float& value : values) {
    value = static_cast<float>(random.Uniform() - 0.5);
  }
  return values;
}

// The first frame of `payload`, which so many elements are.
Bytes Framed(CodecId codec, size_t elements,
             std::span<const std::byte> payload) {
  FrameHeader header;
  header.codec = codec;
  header.job = 3;
  header.sequence = 12;
  header.attempt = 2;
  header.parts =
      static_cast<uint32_t>(payload.size() / kFramePayloadBytesMax + 1);
  payload = payload.first(std::min(payload.size(), kFramePayloadBytesMax));
  header.element_count = elements;
  header.payload_bytes = payload.size();
  header.payload_hash = Hash64(payload);
  std::array<std::byte, kFrameHeaderBytes> written;
  WriteFrameHeader(header, written);
  Bytes frame(kFrameHeaderBytes + payload.size());
  std::copy(written.begin(), written.end(), frame.begin());
  std::copy(payload.begin(), payload.end(), frame.begin() + kFrameHeaderBytes);
  return frame;
}

bool Accepted(std::span<const std::byte> frame) {
  const auto header = ReadFrameHeader(frame);
  return header.ok() &&
         CheckPayload(*header, frame.subspan(kFrameHeaderBytes)).ok();
}

void Corrupt(Random& random, Bytes& bytes) {
  const size_t at = random.Below(bytes.size());
  switch (random.Below(5)) {
    case 0:  // one bit
      bytes[at] ^= std::byte{1} << random.Below(8);
      break;
    case 1:  // one byte
      bytes[at] ^= static_cast<std::byte>(1 + random.Below(255));
      break;
    case 2:  // a run of one value
      std::fill_n(bytes.begin() + at, 1 + random.Below(bytes.size() - at),
                  static_cast<std::byte>(random.Below(256)));
      break;
    case 3:  // two bytes change places
      std::swap(bytes[at], bytes[random.Below(bytes.size())]);
      break;
    case 4:  // another length
      bytes.resize(random.Below(bytes.size()));
      break;
  }
}

// What a codec makes of one slice.
struct Genuine {
  ConformanceCase one;
  size_t elements;
  Bytes payload;
};

std::vector<Genuine> GenuineOf(size_t elements) {
  std::vector<Genuine> all;
  const std::vector<float> values = Values(elements);
  for (const ConformanceCase& one : NumberedCases()) {
    all.push_back({one, elements, {}});
    EXPECT_TRUE(one.codec->Encode(values, all.back().payload).ok()) << one.name;
  }
  return all;
}

// Payloads in turn, of every codec: few of them long.
class InTurn {
 public:
  const Genuine& Of(int trial) const {
    return trial % kSeldom == 0 ? At(long_, trial / kSeldom)
                                : At(short_, trial);
  }

 private:
  static const Genuine& At(const std::vector<Genuine>& all, int index) {
    return all[static_cast<size_t>(index) % all.size()];
  }

  const std::vector<Genuine> short_ = GenuineOf(kElements);
  const std::vector<Genuine> long_ = GenuineOf(kSeveralParts);
};

TEST(CorruptionTest, NoneOfAMillionCorruptedFramesIsAccepted) {
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  const InTurn payloads;
  Bytes corrupt;
  for (int trial = 0; trial < kTrials;) {
    const Genuine& genuine = payloads.Of(trial);
    const Bytes frame =
        Framed(genuine.one.codec->id(), genuine.elements, genuine.payload);
    ASSERT_TRUE(Accepted(frame)) << genuine.one.name;
    corrupt = frame;
    Corrupt(random, corrupt);
    if (corrupt == frame) continue;
    ASSERT_FALSE(Accepted(corrupt)) << "trial " << trial;
    ++trial;
  }
}

TEST(CorruptionTest, ADamagedPayloadWhoseChecksumFitsIsRefusedOrFinite) {
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  const InTurn payloads;
  BackwardExecutor executor(4);
  Workspace in_parts(executor);
  std::vector<float> decoded;
  std::vector<float> decoded_in_parts;
  int refused = 0;
  int long_refused = 0;
  for (int trial = 0; trial < kForgedTrials; ++trial) {
    const auto& [one, elements, genuine] = payloads.Of(trial);
    Bytes payload = genuine;
    Corrupt(random, payload);
    ASSERT_TRUE(Accepted(Framed(one.codec->id(), elements, payload)));
    decoded.resize(elements);
    decoded_in_parts.resize(elements);
    const bool good = one.codec->Decode(payload, decoded).ok();
    ASSERT_EQ(one.codec->Decode(payload, decoded_in_parts, in_parts).ok(), good)
        << one.name << ", trial " << trial;
    if (!good) {
      ++refused;
      long_refused += elements == kSeveralParts ? 1 : 0;
      continue;
    }
    ASSERT_EQ(decoded, decoded_in_parts) << one.name;
    ASSERT_TRUE(std::all_of(decoded.begin(), decoded.end(), [](float value) {
      return std::isfinite(value);
    })) << one.name;
  }
  EXPECT_GT(refused, kForgedTrials / 10);
  EXPECT_LT(refused, kForgedTrials);
  EXPECT_GT(long_refused, kForgedTrials / kSeldom / 10);
  EXPECT_LT(long_refused, kForgedTrials / kSeldom);
}

}  // namespace
}  // namespace skerry::compression
