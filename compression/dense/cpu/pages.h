// compression/dense/cpu/pages.h
//
// Prefetches the address of a page before it is needed. A processor by itself
// prefetches only within a page of 4 KiB. At every new page it waits until the
// address is translated, which in a virtual machine is a walk through two
// tables of several levels. Prefetching one line of a page has its address
// translated.
#ifndef SKERRY_COMPRESSION_DENSE_CPU_PAGES_H_
#define SKERRY_COMPRESSION_DENSE_CPU_PAGES_H_

#include <cstddef>
#include <cstdint>

#include "hwy/base.h"
#include "hwy/cache_control.h"

namespace skerry::compression::cpu {

inline constexpr size_t kPageBytes = 4096;

// For a loop that goes through memory in order, `step_bytes` at a time, a
// divisor of kPageBytes: at the first step of a page, asks for the page that is
// twelve on, wherever the memory ends. Always inlined: compilers drop calls of
// what does nothing but ask.
HWY_INLINE void AskPageAhead(const void* at, size_t step_bytes) {
  constexpr size_t kAheadBytes = 12 * kPageBytes;
  const auto address = reinterpret_cast<uintptr_t>(at);
  if (address % kPageBytes < step_bytes) {
    hwy::Prefetch(reinterpret_cast<const char*>(address + kAheadBytes));
  }
}

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_DENSE_CPU_PAGES_H_
