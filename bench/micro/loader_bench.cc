// What of a training step waits for its samples, from a data set that no cache
// holds: the trainer's own source and mapped file, and a step that computes for
// a fixed time, shorter than any real one. With steps asked for ahead, as the
// trainer does, and without.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "data/sample_source.h"
#include "data/token_shard.h"
#include "runtime/posix/mapped_file.h"

namespace skerry::bench {
namespace {

constexpr size_t kTokens = size_t{1} << 28;  // 512 MiB
constexpr int kContext = 1024;
constexpr size_t kBatch = 8;
constexpr size_t kStepsAhead = 4;
constexpr double kComputeS = 0.02;

double Now() {
  const std::chrono::duration<double> since =
      std::chrono::steady_clock::now().time_since_epoch();
  return since.count();
}

void Write(const std::string& path) {
  Random random(1);
  std::vector<uint16_t> tokens(kTokens);
  for (uint16_t& token : tokens) {
    token = static_cast<uint16_t>(random.Below(50257));
  }
  const auto shard = data::EncodeTokenShard(tokens);
  SKERRY_CHECK(shard.ok());
  std::ofstream out(path, std::ios::binary);
  out.write(shard->data(), static_cast<std::streamsize>(shard->size()));
  SKERRY_CHECK(out.good());
}

// Takes it out of the system's cache.
void Forget(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  SKERRY_CHECK(fd >= 0);
  SKERRY_CHECK(fsync(fd) == 0);
  SKERRY_CHECK(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0);
  close(fd);
}

std::vector<uint64_t> Positions(size_t step) {
  std::vector<uint64_t> positions(kBatch);
  for (size_t i = 0; i < kBatch; ++i) positions[i] = step * kBatch + i;
  return positions;
}

// Seconds that a step waits, the mean and the longest but the first.
struct Waits {
  double mean = 0.0;
  double longest = 0.0;
};

Waits Train(const std::string& path, size_t steps, bool ahead) {
  Forget(path);
  const auto file = runtime::MappedFile::Open(path);
  SKERRY_CHECK(file.ok());
  const auto shard = data::TokenShard::Parse((*file)->bytes());
  SKERRY_CHECK(shard.ok());
  const auto source = data::SampleSource::Create(
      {*shard}, {.context_length = kContext, .vocab_size = 50257, .seed = 1});
  SKERRY_CHECK(source.ok());
  std::vector<int32_t> inputs(kBatch * kContext), targets(inputs.size());
  const auto ask = [&](size_t step) {
    if (!ahead) return;
    source->EveryRange(Positions(step), runtime::MappedFile::WillRead);
  };
  for (size_t step = 0; step < kStepsAhead; ++step) ask(step);
  Waits waits;
  for (size_t step = 0; step < steps; ++step) {
    const double begin = Now();
    ask(step + kStepsAhead);
    SKERRY_CHECK(source->Fill(Positions(step), inputs, targets).ok());
    const double read = Now();
    waits.mean += (read - begin) / static_cast<double>(steps);
    if (step > 0) waits.longest = std::max(waits.longest, read - begin);
    while (Now() < read + kComputeS) {
    }
  }
  return waits;
}

void Report(const std::string& name, const Waits& waits, const char* bar,
            std::ofstream& json) {
  std::printf("%-14s %8.3f ms a step, at most %8.3f ms, of %.0f ms\n",
              name.c_str(), waits.mean * 1e3, waits.longest * 1e3,
              kComputeS * 1e3);
  json << "{\"name\":\"" << name << "\",\"value\":" << waits.mean
       << ",\"unit\":\"s\",\"against\":\"step\",\"against_value\":" << kComputeS
       << bar << "}\n";
}

int Main(int argc, char** argv) {
  std::string json = "/dev/null";
  std::string folder = ".";
  size_t steps = 500;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--quick") {
      steps = 50;
    } else if (argument == "--json" && i + 1 < argc) {
      json = argv[++i];
    } else if (argument == "--folder" && i + 1 < argc) {
      folder = argv[++i];
    } else {
      std::fprintf(stderr,
                   "usage: loader_bench [--quick] [--json FILE] [--folder "
                   "FOLDER]\n");
      return 2;
    }
  }
  std::ofstream out(json, std::ios::app);
  const std::string path = folder + "/loader_bench.bin";
  Write(path);
  Report("asked ahead", Train(path, steps, true), ",\"bar\":\"<=0.01\"", out);
  Report("not asked", Train(path, steps, false), "", out);
  std::filesystem::remove(path);
  return 0;
}

}  // namespace
}  // namespace skerry::bench

int main(int argc, char** argv) { return skerry::bench::Main(argc, argv); }
