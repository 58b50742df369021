// runtime/posix/machine.h
//
// Looks at the machine. Apart from log lines, this is the only place that reads
// the wall clock: operators compare it between machines, and clouds name the
// time at which they take a machine away.
#ifndef SKERRY_RUNTIME_POSIX_MACHINE_H_
#define SKERRY_RUNTIME_POSIX_MACHINE_H_

#include <cstdint>
#include <string>

#include "runtime/machine.h"

namespace skerry::runtime {

// Milliseconds since 1970 by the wall clock.
int64_t UnixMs();

// `state_folder` need not be there.
protocol::MachineFacts LookAt(const std::string& state_folder);

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_POSIX_MACHINE_H_
