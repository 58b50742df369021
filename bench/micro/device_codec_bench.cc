// bench/micro/device_codec_bench.cc
//
// Times the kernels of the dense codecs on a device. A row's floor is a copy
// in the device's memory that moves as many bytes, in turns with the kernel.
// Memory that a call is given is larger than the device's caches.
//
//   device_codec_bench [VALUES_MI] [TURNS]
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "base/random.h"
#include "compression/codec.h"
#include "compression/dense/cpu/sign1.h"
#include "compression/dense/cuda/bf16.h"
#include "compression/dense/cuda/block4.h"
#include "compression/dense/cuda/fp16.h"
#include "compression/dense/cuda/int8_block.h"
#include "compression/dense/cuda/lloyd2.h"
#include "compression/dense/cuda/sign1.h"

namespace skerry::compression {
namespace {

void Check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

template <typename T>
T* Allocated(size_t count) {
  void* memory = nullptr;
  Check(cudaMalloc(&memory, count * sizeof(T)), "cudaMalloc");
  return static_cast<T*>(memory);
}

// Calls that queue work on the stream that they are given.
using Work = std::function<cudaError_t(cudaStream_t)>;

struct Row {
  std::string name;
  size_t bytes;  // read and written by one call
  Work work;
};

// Milliseconds of one call.
float TimeOf(const Work& work, cudaStream_t stream, cudaEvent_t from,
             cudaEvent_t to) {
  Check(cudaEventRecord(from, stream), "cudaEventRecord");
  Check(work(stream), "kernel");
  Check(cudaEventRecord(to, stream), "cudaEventRecord");
  Check(cudaEventSynchronize(to), "cudaEventSynchronize");
  float ms = 0;
  Check(cudaEventElapsedTime(&ms, from, to), "cudaEventElapsedTime");
  return ms;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// What all rows share: `count` values, a payload of them, and both again.
struct Memory {
  size_t count;
  float* values;
  float* sums;
  std::byte* payload;
  double* block_sums;
  int* bad;
};

template <typename EncodeKernel, typename DecodeKernel, typename AddKernel>
void AddRows(const char* name, CodecId id, const Memory& memory,
             const EncodeKernel& encode, const DecodeKernel& decode,
             const AddKernel& add, std::vector<Row>& rows) {
  const size_t payload = (*FindCodec(id))->MaxEncodedBytes(memory.count);
  const size_t values = memory.count * sizeof(float);
  rows.push_back({std::string(name) + "/encode", values + payload,
                  [=](cudaStream_t stream) {
                    return encode(memory.values, memory.count, memory.payload,
                                  memory.bad, stream);
                  }});
  rows.push_back({std::string(name) + "/decode", values + payload,
                  [=](cudaStream_t stream) {
                    return decode(memory.payload, memory.count, memory.sums,
                                  memory.bad, stream);
                  }});
  rows.push_back({std::string(name) + "/decode_add", 2 * values + payload,
                  [=](cudaStream_t stream) {
                    return add(memory.payload, memory.count, memory.sums,
                               memory.bad, stream);
                  }});
}

void AddBlock4(const char* name, CodecId id, cuda::Kind4 kind,
               const Memory& memory, std::vector<Row>& rows) {
  AddRows(
      name, id, memory,
      [kind](auto... of) { return cuda::EncodeBlock4(kind, of...); },
      [kind](auto... of) { return cuda::DecodeBlock4(kind, of...); },
      [kind](auto... of) { return cuda::DecodeAddBlock4(kind, of...); }, rows);
}

// Decoders come after the encoder of their codec, whose payload they read.
std::vector<Row> RowsOf(const Memory& memory) {
  using cpu::Levels4;
  using cpu::Scale4;
  std::vector<Row> rows;
  AddRows("bf16", CodecId::kBf16, memory, cuda::EncodeBf16, cuda::DecodeBf16,
          cuda::DecodeAddBf16, rows);
  AddRows("fp16", CodecId::kFp16, memory, cuda::EncodeFp16, cuda::DecodeFp16,
          cuda::DecodeAddFp16, rows);
  AddRows("int8_block", CodecId::kInt8Block, memory, cuda::EncodeInt8Block,
          cuda::DecodeInt8Block, cuda::DecodeAddInt8Block, rows);
  AddBlock4("nf4", CodecId::kNf4, {Levels4::kNf4, Scale4::kBf16}, memory, rows);
  AddBlock4("e3m0", CodecId::kE3m0, {Levels4::kE3m0, Scale4::kBf16}, memory,
            rows);
  AddRows("lloyd2", CodecId::kLloyd2, memory, cuda::EncodeLloyd2,
          cuda::DecodeLloyd2, cuda::DecodeAddLloyd2, rows);
  AddRows("sign1", CodecId::kSign1, memory, cuda::EncodeSign1,
          cuda::DecodeSign1, cuda::DecodeAddSign1, rows);
  AddRows(
      "sign1_whole", CodecId::kSign1Whole, memory,
      [memory](const float* values, size_t count, std::byte* payload, int* bad,
               cudaStream_t stream) {
        return cuda::EncodeSign1Whole(values, count, payload, memory.block_sums,
                                      bad, stream);
      },
      cuda::DecodeSign1Whole, cuda::DecodeAddSign1Whole, rows);
  return rows;
}

Memory NewMemory(size_t count) {
  Memory memory = {
      .count = count,
      .values = Allocated<float>(count),
      .sums = Allocated<float>(count),
      .payload = Allocated<std::byte>(count * sizeof(float)),
      .block_sums = Allocated<double>(cpu::Sign1Whole::Blocks(count)),
      .bad = Allocated<int>(1)};
  Random random(7);
  std::vector<float> values(count);
  for (float& value : values) {
    value = static_cast<float>(random.Uniform() - 0.5);
  }
  Check(cudaMemcpy(memory.values, values.data(), count * sizeof(float),
                   cudaMemcpyHostToDevice),
        "cudaMemcpy");
  Check(cudaMemset(memory.sums, 0, count * sizeof(float)), "cudaMemset");
  Check(cudaMemset(memory.bad, 0, sizeof(int)), "cudaMemset");
  return memory;
}

void Time(const Row& row, const Memory& memory, int turns, cudaStream_t stream,
          cudaEvent_t from, cudaEvent_t to) {
  // A copy reads and writes each of its bytes, between other addresses than
  // those of the row.
  static std::byte* const source =
      Allocated<std::byte>(memory.count * 2 * sizeof(float));
  static std::byte* const target =
      Allocated<std::byte>(memory.count * 2 * sizeof(float));
  const Work copy = [&](cudaStream_t on) {
    return cudaMemcpyAsync(target, source, row.bytes / 2,
                           cudaMemcpyDeviceToDevice, on);
  };
  TimeOf(row.work, stream, from, to);
  TimeOf(copy, stream, from, to);
  std::vector<double> ratios;
  std::vector<double> times;
  for (int turn = 0; turn < turns; ++turn) {
    const double kernel = TimeOf(row.work, stream, from, to);
    ratios.push_back(TimeOf(copy, stream, from, to) / kernel);
    times.push_back(kernel);
  }
  const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  std::printf("%-24s %7.0f GB/s  %.3f of the copy (%.3f to %.3f)\n",
              row.name.c_str(),
              static_cast<double>(row.bytes) / Median(times) / 1e6,
              Median(ratios), *least, *most);
}

int Run(size_t count, int turns) {
  cudaDeviceProp properties;
  Check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  std::printf("%s, %zu values a call, %d turns\n", properties.name, count,
              turns);
  const Memory memory = NewMemory(count);
  cudaStream_t stream;
  cudaEvent_t from;
  cudaEvent_t to;
  Check(cudaStreamCreate(&stream), "cudaStreamCreate");
  Check(cudaEventCreate(&from), "cudaEventCreate");
  Check(cudaEventCreate(&to), "cudaEventCreate");
  for (const Row& row : RowsOf(memory)) {
    Time(row, memory, turns, stream, from, to);
  }
  int bad = 0;
  Check(cudaMemcpy(&bad, memory.bad, sizeof(bad), cudaMemcpyDeviceToHost),
        "cudaMemcpy");
  if (bad != 0) std::fprintf(stderr, "a kernel refused its input\n");
  return bad;
}

}  // namespace
}  // namespace skerry::compression

int main(int argc, char** argv) {
  const int values_mi = argc > 1 ? std::atoi(argv[1]) : 64;
  const int turns = argc > 2 ? std::atoi(argv[2]) : 50;
  return skerry::compression::Run(static_cast<size_t>(values_mi) << 20, turns);
}
