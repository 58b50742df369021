// compression/testing/allocations.h
//
// Counts what a test program allocates. Linking it replaces operator new of the
// whole program, so that nothing is missed.
#ifndef SKERRY_COMPRESSION_TESTING_ALLOCATIONS_H_
#define SKERRY_COMPRESSION_TESTING_ALLOCATIONS_H_

#include <cstdint>

namespace skerry::compression {

// How often the program has called operator new so far.
int64_t Allocations();

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_TESTING_ALLOCATIONS_H_
