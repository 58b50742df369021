// runtime/machine.h
//
// Describes the machine that a daemon runs on. Memory decides which models a
// worker may have; the rest is for operators.
#ifndef SKERRY_RUNTIME_MACHINE_H_
#define SKERRY_RUNTIME_MACHINE_H_

#include <cstdint>
#include <functional>

namespace skerry::runtime {

struct MachineFacts {
  // Its wall clock, milliseconds since 1970.
  int64_t unix_ms = 0;
  // Free for this process on the file system of the state folder, and its size;
  // 0 when they are not known.
  uint64_t state_free_bytes = 0;
  uint64_t state_bytes = 0;
  // Main memory that the daemon's processes may use; 0 when it is not known.
  uint64_t memory_bytes = 0;
};

// Any thread may call it. Empty where nobody looks.
using LookAtMachine = std::function<MachineFacts()>;

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_MACHINE_H_
