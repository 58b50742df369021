// model/cpu/gemm_choice.h
//
// Chooses the GEMM library of a process from a measurement of some milliseconds
// at its start. The caller brings the clock. The decision is a pure function of
// the measured seconds.
#ifndef SKERRY_MODEL_CPU_GEMM_CHOICE_H_
#define SKERRY_MODEL_CPU_GEMM_CHOICE_H_

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/cpu/gemm.h"

namespace skerry::model::cpu {

// The best time of one product of `shape`, and how often a step needs it.
struct GemmTiming {
  GemmShape shape;
  double seconds = 0;
  double calls = 1;
};

struct GemmMeasurement {
  const GemmBackend* backend = nullptr;
  std::vector<GemmTiming> timings;

  // Seconds of a step's products.
  double StepSeconds() const;
  double FlopsPerSecond() const;
};

// The products of one step of a model of this width: those of the MLP's first
// layer, forward and both backward ones, for `tokens` tokens.
std::vector<GemmShape> TypicalGemmShapes(int width, int inner_width,
                                         int tokens);

// Times every shape on every backend: the best of several rounds in which the
// backends take turns, so that a disturbance hits them alike. `now_seconds`
// is a monotonic clock.
std::vector<GemmMeasurement> MeasureGemm(
    std::span<const GemmBackend* const> backends,
    std::span<const GemmShape> shapes,
    const std::function<double()>& now_seconds);

// The measurement with the least StepSeconds; the earlier one when equal.
// Requires: at least one.
const GemmMeasurement& ChooseGemm(
    std::span<const GemmMeasurement> measurements);

// What CPUID says that matters to OpenBLAS.
struct CpuFacts {
  std::string_view vendor;  // "GenuineIntel", "AuthenticAMD", ...
  // F, CD, BW, DQ and VL together: what OpenBLAS's SkylakeX kernels use.
  bool avx512 = false;
};

// The value of OPENBLAS_CORETYPE that lets OpenBLAS use the processor's widest
// kernels; empty when OpenBLAS is to be left to its own detection. It reads
// the variable when it is loaded, so a process has to set it and start itself
// anew. Older releases take AVX2 kernels for AMD processors with AVX-512 that
// they do not know.
std::string OpenBlasCoreType(const CpuFacts& facts);

}  // namespace skerry::model::cpu

#endif  // SKERRY_MODEL_CPU_GEMM_CHOICE_H_
