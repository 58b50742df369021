#include "trainer/main/cpu_facts.h"

#include <cstring>

#include "model/cpu/gemm_choice.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace skerry::trainer {

std::string OpenBlasCoreTypeHere() {
#if defined(__x86_64__)
  unsigned int eax = 0;
  unsigned int words[3] = {};
  if (__get_cpuid(0, &eax, &words[0], &words[2], &words[1]) == 0) return "";
  char vendor[12];
  std::memcpy(vendor, words, sizeof(vendor));
  const bool avx512 =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
      __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return model::cpu::OpenBlasCoreType(
      {.vendor = std::string_view(vendor, sizeof(vendor)), .avx512 = avx512});
#else
  return "";
#endif
}

}  // namespace skerry::trainer
