#include "compression/cuda/testing/twin_test.h"

#include <cstring>
#include <limits>
#include <memory>

#include "base/random.h"
#include "compression/testing/codec_inputs.h"

namespace skerry::compression {
namespace {

constexpr uint64_t kSeed = 5;

struct DeviceFree {
  void operator()(void* memory) const { cudaFree(memory); }
};

template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(const std::vector<T>& from) : count_(from.size()) {
    void* memory = nullptr;
    EXPECT_EQ(cudaMalloc(&memory, count_ * sizeof(T)), cudaSuccess);
    memory_.reset(static_cast<T*>(memory));
    EXPECT_EQ(cudaMemcpy(get(), from.data(), count_ * sizeof(T),
                         cudaMemcpyHostToDevice),
              cudaSuccess);
  }
  T* get() const { return memory_.get(); }
  std::vector<T> Get() const {
    std::vector<T> host(count_);
    EXPECT_EQ(cudaMemcpy(host.data(), get(), count_ * sizeof(T),
                         cudaMemcpyDeviceToHost),
              cudaSuccess);
    return host;
  }

 private:
  size_t count_;
  std::unique_ptr<T, DeviceFree> memory_;
};

template <typename T>
struct Result {
  std::vector<T> out;
  bool bad;
};

// What `kernel` makes of `in` in the place of `out`, of `count` values.
template <typename In, typename Out, typename Kernel>
Result<Out> RunOn(const Kernel& kernel, const std::vector<In>& in, size_t count,
                  const std::vector<Out>& out) {
  const DeviceArray<In> from(in);
  const DeviceArray<Out> to(out);
  const DeviceArray<int> flag(std::vector<int>{0});
  const cudaError_t error =
      kernel(from.get(), count, to.get(), flag.get(), nullptr);
  EXPECT_EQ(error, cudaSuccess) << cudaGetErrorString(error);
  return {to.Get(), flag.Get()[0] != 0};
}

bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() &&
         (a.empty() ||
          std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
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
                            const CodecInput& input) {
  const size_t count = input.values.size();
  std::vector<std::byte> expected;
  ASSERT_TRUE(codec.Encode(input.values, expected).ok());
  const auto encoded = RunOn(kernels.encode, input.values, count,
                             std::vector<std::byte>(expected.size()));
  EXPECT_FALSE(encoded.bad) << input.name;
  EXPECT_EQ(encoded.out, expected) << input.name;
  std::vector<float> decoded(count);
  ASSERT_TRUE(codec.Decode(expected, decoded).ok());
  const std::vector<float> before(count, 0.125f);
  const auto set = RunOn(kernels.decode, expected, count, before);
  EXPECT_FALSE(set.bad) << input.name;
  EXPECT_TRUE(SameBits(set.out, decoded)) << input.name;
  std::vector<float> sum = before;
  ASSERT_TRUE(codec.DecodeAdd(expected, sum).ok());
  const auto added = RunOn(kernels.decode_add, expected, count, before);
  EXPECT_TRUE(SameBits(added.out, sum)) << input.name;
}

void ExpectSameRefusals(const DeviceKernels& kernels, const Codec& codec) {
  constexpr size_t kCount = 701;
  std::vector<float> values(kCount, 1.0f);
  std::vector<std::byte> payload;
  ASSERT_TRUE(codec.Encode(values, payload).ok());
  for (const size_t at : {size_t{0}, size_t{300}, kCount - 1}) {
    values[at] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(RunOn(kernels.encode, values, kCount, payload).bad) << at;
    values[at] = -std::numeric_limits<float>::infinity();
    EXPECT_TRUE(RunOn(kernels.encode, values, kCount, payload).bad) << at;
    values[at] = 1.0f;
  }
  Random random(kSeed);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<std::byte> changed = payload;
    changed[random.Below(changed.size())] =
        static_cast<std::byte>(random.Below(256));
    std::vector<float> decoded(kCount);
    EXPECT_EQ(RunOn(kernels.decode, changed, kCount, decoded).bad,
              !codec.Decode(changed, decoded).ok())
        << "trial " << trial;
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
  OnEveryDevice([&] {
    for (const CodecInput& input : CodecInputs(kSeed)) {
      ExpectSameBytesAndBits(kernels, **FindCodec(id), input);
    }
  });
}

void TwinTest::ExpectRefusalsOfTheProcessor(const DeviceKernels& kernels,
                                            CodecId id) {
  OnEveryDevice([&] { ExpectSameRefusals(kernels, **FindCodec(id)); });
}

}  // namespace skerry::compression
