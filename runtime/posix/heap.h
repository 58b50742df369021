// runtime/posix/heap.h
//
// Limits how much free memory a daemon keeps.
#ifndef SKERRY_RUNTIME_POSIX_HEAP_H_
#define SKERRY_RUNTIME_POSIX_HEAP_H_

namespace skerry::runtime {

// Limits glibc to two heaps from here on. Otherwise glibc gives threads heaps
// of their own, up to eight for a core, and memory that one thread frees is not
// used by others. So many threads that each allocate little keep more than they
// use. Called before other threads start.
void ShareHeap();

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_POSIX_HEAP_H_
