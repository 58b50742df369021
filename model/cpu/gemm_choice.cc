#include "model/cpu/gemm_choice.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace skerry::model::cpu {
namespace {

constexpr int kRounds = 5;

double Flops(const GemmShape& shape) {
  return 2.0 * shape.m * shape.n * shape.k;
}

}  // namespace

double GemmMeasurement::StepSeconds() const {
  double sum = 0;
  for (const GemmTiming& timing : timings) {
    sum += timing.seconds * timing.calls;
  }
  return sum;
}

double GemmMeasurement::FlopsPerSecond() const {
  double flops = 0;
  for (const GemmTiming& timing : timings) {
    flops += Flops(timing.shape) * timing.calls;
  }
  return flops / StepSeconds();
}

std::vector<GemmShape> TypicalGemmShapes(int width, int inner_width,
                                         int tokens) {
  using enum Transpose;
  return {{kNo, kNo, tokens, inner_width, width},
          {kNo, kYes, tokens, width, inner_width},
          {kYes, kNo, width, inner_width, tokens}};
}

std::vector<GemmMeasurement> MeasureGemm(
    std::span<const GemmBackend* const> backends,
    std::span<const GemmShape> shapes,
    const std::function<double()>& now_seconds) {
  std::vector<GemmMeasurement> measurements;
  for (const GemmBackend* backend : backends) {
    measurements.push_back({backend, {}});
  }
  for (const GemmShape& shape : shapes) {
    const size_t m = shape.m;
    const size_t n = shape.n;
    const size_t k = shape.k;
    const std::vector<float> a(m * k, 0.5f);
    const std::vector<float> b(k * n, 0.25f);
    std::vector<float> c(m * n);
    std::vector<double> best(backends.size(),
                             std::numeric_limits<double>::infinity());
    for (int round = 0; round < kRounds; ++round) {
      for (size_t i = 0; i < backends.size(); ++i) {
        const double start = now_seconds();
        backends[i]->Multiply(
            shape, a.data(),
            shape.transpose_a == Transpose::kYes ? shape.m : shape.k, b.data(),
            shape.transpose_b == Transpose::kYes ? shape.k : shape.n, 0.0f,
            c.data(), shape.n);
        best[i] = std::min(best[i], now_seconds() - start);
      }
    }
    for (size_t i = 0; i < backends.size(); ++i) {
      measurements[i].timings.push_back({shape, best[i], 1});
    }
  }
  return measurements;
}

const GemmMeasurement& ChooseGemm(
    std::span<const GemmMeasurement> measurements) {
  SKERRY_CHECK(!measurements.empty());
  return *std::min_element(
      measurements.begin(), measurements.end(),
      [](const GemmMeasurement& a, const GemmMeasurement& b) {
        return a.StepSeconds() < b.StepSeconds();
      });
}

std::string OpenBlasCoreType(const CpuFacts& facts) {
  return facts.vendor != "GenuineIntel" && facts.avx512 ? "SkylakeX" : "";
}

}  // namespace skerry::model::cpu
