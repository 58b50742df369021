#include "compression/cuda/testing/twin_test.h"

#include <cstring>
#include <limits>

#include "base/random.h"
#include "compression/testing/codec_inputs.h"

namespace skerry::compression {
namespace {

constexpr uint64_t kSeed = 5;

bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() &&
         (a.empty() ||
          std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

void ExpectSuccess(cudaError_t error) {
  EXPECT_EQ(error, cudaSuccess) << cudaGetErrorString(error);
}

struct Encoded {
  std::vector<std::byte> payload;
  bool bad;
};

Encoded EncodeOn(const DeviceKernels& kernels, const Codec& codec,
                 const std::vector<float>& values) {
  size_t bytes = codec.MaxEncodedBytes(values.size());
  const DeviceArray<float> from(values);
  const DeviceArray<std::byte> to(bytes);
  const DeviceArray<int> flag(std::vector<int>{0});
  ExpectSuccess(
      kernels.encode(from.get(), values.size(), to.get(), &bytes, flag.get()));
  std::vector<std::byte> payload = to.Get();
  EXPECT_LE(bytes, payload.size());
  payload.resize(bytes);
  return {payload, flag.Get()[0] != 0};
}

struct Decoded {
  std::vector<float> values;
  bool bad;
};

// In the place of `before`.
Decoded DecodeOn(const DeviceKernels::Decode& decode,
                 const std::vector<std::byte>& payload,
                 const std::vector<float>& before) {
  const DeviceArray<std::byte> from(payload);
  const DeviceArray<float> to(before);
  const DeviceArray<int> flag(std::vector<int>{0});
  ExpectSuccess(
      decode(from.get(), payload.size(), before.size(), to.get(), flag.get()));
  return {to.Get(), flag.Get()[0] != 0};
}

// Calls body() with every device as the one that kernels run on.
template <typename Body>
void OnEveryDevice(const Body& body) {
  int devices = 0;
  ASSERT_EQ(cudaGetDeviceCount(&devices), cudaSuccess);
  for (int device = 0; device < devices; ++device) {
    SCOPED_TRACE(testing::Message() << "device " << device);
    ASSERT_EQ(cudaSetDevice(device), cudaSuccess);
    body();
  }
}

void ExpectSameBytesAndBits(const DeviceKernels& kernels, const Codec& codec,
                            const std::vector<float>& values) {
  std::vector<std::byte> expected;
  ASSERT_TRUE(codec.Encode(values, expected).ok());
  if (kernels.encode != nullptr) {
    const Encoded encoded = EncodeOn(kernels, codec, values);
    EXPECT_FALSE(encoded.bad);
    EXPECT_EQ(encoded.payload, expected);
  }
  std::vector<float> decoded(values.size());
  ASSERT_TRUE(codec.Decode(expected, decoded).ok());
  const std::vector<float> before(values.size(), 0.125f);
  const Decoded set = DecodeOn(kernels.decode, expected, before);
  EXPECT_FALSE(set.bad);
  EXPECT_TRUE(SameBits(set.values, decoded));
  std::vector<float> sum = before;
  ASSERT_TRUE(codec.DecodeAdd(expected, sum).ok());
  const Decoded added = DecodeOn(kernels.decode_add, expected, before);
  EXPECT_FALSE(added.bad);
  EXPECT_TRUE(SameBits(added.values, sum));
}

void ExpectSameAnswer(const DeviceKernels& kernels, const Codec& codec,
                      const std::vector<std::byte>& payload, size_t count) {
  std::vector<float> expected(count);
  const bool bad = !codec.Decode(payload, expected).ok();
  const Decoded decoded =
      DecodeOn(kernels.decode, payload, std::vector<float>(count));
  EXPECT_EQ(decoded.bad, bad);
  if (bad) return;
  EXPECT_TRUE(SameBits(decoded.values, expected));
}

void ExpectSameRefusals(const DeviceKernels& kernels, const Codec& codec) {
  constexpr size_t kCount = 701;
  Random random(kSeed);
  std::vector<float> values(kCount);
  for (float& value : values) value = static_cast<float>(random.Uniform());
  std::vector<std::byte> payload;
  ASSERT_TRUE(codec.Encode(values, payload).ok());
  for (const size_t at : {size_t{0}, size_t{300}, kCount - 1}) {
    if (kernels.encode == nullptr) break;
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(),
                            -std::numeric_limits<float>::infinity()}) {
      std::vector<float> changed = values;
      changed[at] = bad;
      EXPECT_TRUE(EncodeOn(kernels, codec, changed).bad) << at;
    }
  }
  for (int trial = 0; trial < 100; ++trial) {
    SCOPED_TRACE(testing::Message() << "trial " << trial);
    std::vector<std::byte> changed = payload;
    changed[random.Below(changed.size())] =
        static_cast<std::byte>(random.Below(256));
    ExpectSameAnswer(kernels, codec, changed, kCount);
  }
}

}  // namespace

void TwinTest::SetUp() {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error != cudaSuccess || devices == 0) {
    GTEST_SKIP() << "no CUDA device: " << cudaGetErrorString(error);
  }
}

void TwinTest::ExpectBytesAndBitsOfTheProcessor(const DeviceKernels& kernels,
                                                CodecId id) {
  ExpectBytesAndBitsOfTheProcessor(kernels, **FindCodec(id));
}

void TwinTest::ExpectBytesAndBitsOfTheProcessor(const DeviceKernels& kernels,
                                                const Codec& codec) {
  OnEveryDevice([&] {
    for (const CodecInput& input : CodecInputs(kSeed)) {
      SCOPED_TRACE(testing::Message()
                   << input.values.size() << ", " << input.name);
      ExpectSameBytesAndBits(kernels, codec, input.values);
    }
  });
}

void TwinTest::ExpectBytesAndBitsOfTheProcessor(
    const DeviceKernels& kernels, CodecId id,
    const std::vector<float>& values) {
  OnEveryDevice(
      [&] { ExpectSameBytesAndBits(kernels, **FindCodec(id), values); });
}

void TwinTest::ExpectRefusalsOfTheProcessor(const DeviceKernels& kernels,
                                            CodecId id) {
  ExpectRefusalsOfTheProcessor(kernels, **FindCodec(id));
}

void TwinTest::ExpectRefusalsOfTheProcessor(const DeviceKernels& kernels,
                                            const Codec& codec) {
  OnEveryDevice([&] { ExpectSameRefusals(kernels, codec); });
}

void TwinTest::ExpectAnswerOfTheProcessor(const DeviceKernels& kernels,
                                          CodecId id,
                                          const std::vector<std::byte>& payload,
                                          size_t count) {
  OnEveryDevice(
      [&] { ExpectSameAnswer(kernels, **FindCodec(id), payload, count); });
}

}  // namespace skerry::compression
