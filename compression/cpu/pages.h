// compression/cpu/pages.h
//
// Where a page of memory is, before it is needed. A processor asks memory ahead
// by itself within a page of 4 KiB only, and waits at every new one for its
// address to be translated: in a virtual machine, a walk through two tables of
// several levels. To ask for one line of a page has it translated.
#ifndef SKERRY_COMPRESSION_CPU_PAGES_H_
#define SKERRY_COMPRESSION_CPU_PAGES_H_

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

#endif  // SKERRY_COMPRESSION_CPU_PAGES_H_
