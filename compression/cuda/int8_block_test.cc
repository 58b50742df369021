#include "compression/cuda/int8_block.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "compression/cpu/int8_block.h"
#include "compression/testing/codec_inputs.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

struct DeviceFree {
  void operator()(void* memory) const { cudaFree(memory); }
};

template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t count) : count_(count) {
    void* memory = nullptr;
    EXPECT_EQ(cudaMalloc(&memory, count * sizeof(T) + 1), cudaSuccess);
    memory_.reset(static_cast<T*>(memory));
  }
  T* get() const { return memory_.get(); }
  void Set(const T* from) {
    EXPECT_EQ(
        cudaMemcpy(get(), from, count_ * sizeof(T), cudaMemcpyHostToDevice),
        cudaSuccess);
  }
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

class Int8BlockCudaTest : public ::testing::Test {
 protected:
  void SetUp() override {
    int devices = 0;
    const cudaError_t error = cudaGetDeviceCount(&devices);
    if (error != cudaSuccess || devices == 0) {
      GTEST_SKIP() << "no CUDA device: " << cudaGetErrorString(error);
    }
  }

  // The device's payload of `values`; `bad` says whether it was refused.
  std::vector<std::byte> Encode(const std::vector<float>& values, bool& bad) {
    DeviceArray<float> in(values.size());
    DeviceArray<std::byte> out(cpu::Int8Block::Bytes(values.size()));
    DeviceArray<int> flag(1);
    in.Set(values.data());
    flag.Set(&kNotBad);
    EXPECT_EQ(cuda::EncodeInt8Block(in.get(), values.size(), out.get(),
                                    flag.get(), nullptr),
              cudaSuccess);
    bad = flag.Get()[0] != 0;
    return out.Get();
  }

  std::vector<float> DecodeAdd(const std::vector<std::byte>& payload,
                               const std::vector<float>& sum, bool& bad) {
    DeviceArray<std::byte> in(payload.size());
    DeviceArray<float> out(sum.size());
    DeviceArray<int> flag(1);
    in.Set(payload.data());
    out.Set(sum.data());
    flag.Set(&kNotBad);
    EXPECT_EQ(cuda::DecodeAddInt8Block(in.get(), sum.size(), out.get(),
                                       flag.get(), nullptr),
              cudaSuccess);
    bad = flag.Get()[0] != 0;
    return out.Get();
  }

  static constexpr int kNotBad = 0;
};

TEST_F(Int8BlockCudaTest, BytesAndBitsAreThoseOfTheProcessor) {
  for (const CodecInput& input : CodecInputs(1)) {
    const size_t count = input.values.size();
    std::vector<std::byte> expected(cpu::Int8Block::Bytes(count));
    ASSERT_TRUE(cpu::Int8Block::Encode(input.values, expected.data()));
    bool bad = true;
    EXPECT_EQ(Encode(input.values, bad), expected) << input.name;
    EXPECT_FALSE(bad);
    std::vector<float> sum(count, 0.125f);
    const std::vector<float> device = DecodeAdd(expected, sum, bad);
    ASSERT_TRUE(cpu::Int8Block::DecodeAdd(expected.data(), sum));
    EXPECT_FALSE(bad);
    EXPECT_EQ(device, sum) << input.name;
  }
}

TEST_F(Int8BlockCudaTest, WhatTheProcessorRefusesIsFlagged) {
  std::vector<float> values(700, 1.0f);
  values[699] = std::numeric_limits<float>::quiet_NaN();
  bool bad = false;
  Encode(values, bad);
  EXPECT_TRUE(bad);
  values[699] = 1.0f;
  std::vector<std::byte> payload = Encode(values, bad);
  EXPECT_FALSE(bad);
  payload.back() = std::byte{0x80};
  DecodeAdd(payload, values, bad);
  EXPECT_TRUE(bad);
}

}  // namespace
}  // namespace skerry::compression
