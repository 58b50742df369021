#include "runtime/posix/heap.h"

#include <malloc.h>

#include "base/check.h"

namespace skerry::runtime {

void ShareHeap() { SKERRY_CHECK(mallopt(M_ARENA_MAX, 2) == 1); }

}  // namespace skerry::runtime
