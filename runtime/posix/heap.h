// runtime/posix/heap.h
//
// How much free memory a daemon keeps.
#ifndef SKERRY_RUNTIME_POSIX_HEAP_H_
#define SKERRY_RUNTIME_POSIX_HEAP_H_

namespace skerry::runtime {

// glibc gives threads heaps of their own, up to eight for a core, and what one
// thread frees no other one takes: many threads that each allocate little keep
// more than they use. From here on they share one heap. Called before other
// threads start.
void ShareHeap();

// Gives pages of the heaps that hold nothing back to the system. Allocations
// made after it take pages anew, so it is called when something large or long
// has ended and not between rounds. It holds each heap's lock for the time that
// a walk over its free pieces takes.
void ReturnFreeHeap();

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_POSIX_HEAP_H_
