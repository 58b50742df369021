// runtime/posix/heap.h
//
// Limits how much free memory a daemon keeps.
#ifndef SKERRY_RUNTIME_POSIX_HEAP_H_
#define SKERRY_RUNTIME_POSIX_HEAP_H_

namespace skerry::runtime {

// Has all threads share one heap of glibc from here on. Otherwise glibc gives
// threads heaps of their own, up to eight for a core, and memory that one
// thread frees is not used by others. So many threads that each allocate little
// keep more than they use. Called before other threads start.
void ShareHeap();

// Has glibc keep what is freed, and large pieces with it, until
// ReturnFreeHeap(). Otherwise it gives memory back to the system soon, and who
// frees and takes the same large pieces every round pays for new pages each
// time: a worker spent a fifth of an exchange on them.
void KeepFreeHeap();

// Gives pages of the heaps that hold nothing back to the system. Allocations
// made after it take pages anew, so it is called when something large or long
// has ended and not between rounds. It holds each heap's lock for the time that
// a walk over its free pieces takes.
void ReturnFreeHeap();

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_POSIX_HEAP_H_
