// Damage on the way: a frame that any bit of differs is refused by its
// checksums; and should a liar fit the checksums, by the codec, or it decodes
// to finite values.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/hash.h"
#include "base/random.h"
#include "compression/frame.h"
#include "compression/testing/conformance_cases.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

using Bytes = std::vector<std::byte>;

constexpr uint64_t kSeed = 99;
constexpr size_t kElements = 500;
constexpr int kTrials = 1'000'000;
constexpr int kForgedTrials = 200'000;

std::vector<float> Values() {
  Random random(kSeed);
  std::vector<float> values(kElements);
  for (float& value : values) {
    value = static_cast<float>(random.Uniform() - 0.5);
  }
  return values;
}

// A header that promises `payload`, and the payload.
Bytes Framed(CodecId codec, std::span<const std::byte> payload) {
  FrameHeader header;
  header.codec = codec;
  header.job = 3;
  header.sequence = 12;
  header.attempt = 2;
  header.element_count = kElements;
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

TEST(CorruptionTest, NoneOfAMillionCorruptedFramesIsAccepted) {
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  std::vector<Bytes> frames;
  for (const ConformanceCase& one : NumberedCases()) {
    Bytes payload;
    ASSERT_TRUE(one.codec->Encode(Values(), payload).ok()) << one.name;
    frames.push_back(Framed(one.codec->id(), payload));
    ASSERT_TRUE(Accepted(frames.back())) << one.name;
  }
  Bytes corrupt;
  for (int trial = 0; trial < kTrials;) {
    const Bytes& genuine = frames[trial % frames.size()];
    corrupt = genuine;
    Corrupt(random, corrupt);
    if (corrupt == genuine) continue;
    ASSERT_FALSE(Accepted(corrupt)) << "trial " << trial;
    ++trial;
  }
}

TEST(CorruptionTest, ADamagedPayloadWhoseChecksumFitsIsRefusedOrFinite) {
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  const auto cases = NumberedCases();
  std::vector<Bytes> payloads(cases.size());
  for (size_t i = 0; i < cases.size(); ++i) {
    ASSERT_TRUE(cases[i].codec->Encode(Values(), payloads[i]).ok());
  }
  std::vector<float> decoded(kElements);
  int refused = 0;
  for (int trial = 0; trial < kForgedTrials; ++trial) {
    const size_t which = trial % cases.size();
    Bytes payload = payloads[which];
    Corrupt(random, payload);
    ASSERT_TRUE(Accepted(Framed(cases[which].codec->id(), payload)));
    if (!cases[which].codec->Decode(payload, decoded).ok()) {
      ++refused;
      continue;
    }
    for (const float value : decoded) {
      ASSERT_TRUE(std::isfinite(value)) << cases[which].name;
    }
  }
  EXPECT_GT(refused, kForgedTrials / 10);
  EXPECT_LT(refused, kForgedTrials);
}

}  // namespace
}  // namespace skerry::compression
