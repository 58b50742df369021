// compression/testing/every_simd_target.h
//
// Runs tests of code that Highway compiles for several instruction sets.
#ifndef SKERRY_COMPRESSION_TESTING_EVERY_SIMD_TARGET_H_
#define SKERRY_COMPRESSION_TESTING_EVERY_SIMD_TARGET_H_

#include <cstdint>

#include "gtest/gtest.h"
#include "hwy/targets.h"

namespace skerry::compression::cpu {

// Calls check() once with each set of instructions that the processor has and
// kernels are compiled for.
template <typename Check>
void OnEverySimdTarget(const Check& check) {
  const int64_t supported = hwy::SupportedTargets() & HWY_TARGETS;
  for (int64_t rest = supported; rest != 0; rest &= rest - 1) {
    SCOPED_TRACE(hwy::TargetName(rest & -rest));
    hwy::SetSupportedTargetsForTest(rest & -rest);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    check();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_TESTING_EVERY_SIMD_TARGET_H_
