// runtime/posix/heap.h
//
// Limits how much free memory a daemon keeps.
#ifndef SKERRY_RUNTIME_POSIX_HEAP_H_
#define SKERRY_RUNTIME_POSIX_HEAP_H_

namespace skerry::runtime {

// glibc gives threads heaps of their own, up to eight for a core, and what one
// thread frees no other one takes: many threads that each allocate little keep
// more than they use. From here on there are two heaps. Called before other
// threads start.
void ShareHeap();

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_POSIX_HEAP_H_
