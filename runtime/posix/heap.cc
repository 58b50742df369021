#include "runtime/posix/heap.h"

#include <malloc.h>

namespace skerry::runtime {

// An allocator in glibc's place, such as a sanitizer's, says no; it has no such
// heaps.
void ShareHeap() { mallopt(M_ARENA_MAX, 1); }

void ReturnFreeHeap() { malloc_trim(0); }

}  // namespace skerry::runtime
