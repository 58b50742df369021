#include "runtime/posix/heap.h"

#include <malloc.h>

namespace skerry::runtime {
namespace {

constexpr int kLargestKept = 32 << 20;  // glibc takes no more

}  // namespace

// An allocator in glibc's place, such as a sanitizer's, says no; it has no such
// heaps.
void ShareHeap() { mallopt(M_ARENA_MAX, 1); }

void KeepFreeHeap() {
  mallopt(M_MMAP_THRESHOLD, kLargestKept);
  mallopt(M_TRIM_THRESHOLD, -1);
}

void ReturnFreeHeap() { malloc_trim(0); }

}  // namespace skerry::runtime
