// runtime/posix/machine.h
//
// The one place that reads the wall clock for anything but log lines: what an
// operator compares between machines, and how long a deadline is away that a
// cloud has named.
#ifndef SKERRY_RUNTIME_POSIX_MACHINE_H_
#define SKERRY_RUNTIME_POSIX_MACHINE_H_

#include <cstdint>
#include <string>

#include "runtime/machine.h"

namespace skerry::runtime {

// Milliseconds since 1970 by the wall clock.
int64_t UnixMs();

// `state_folder` need not be there.
MachineFacts LookAt(const std::string& state_folder);

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_POSIX_MACHINE_H_
