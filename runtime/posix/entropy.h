// runtime/posix/entropy.h
//
// Draws numbers that nobody can have drawn before, for identities of processes
// and requests.
#ifndef SKERRY_RUNTIME_POSIX_ENTROPY_H_
#define SKERRY_RUNTIME_POSIX_ENTROPY_H_

#include <cstdint>

namespace skerry::runtime {

// Draws a number from the kernel; never 0. Stops the process if the kernel has
// none.
uint64_t DrawRandom64();

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_POSIX_ENTROPY_H_
