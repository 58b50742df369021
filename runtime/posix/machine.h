// runtime/posix/machine.h
//
// Looks at the machine. Apart from log lines and the signatures of requests to
// object stores (curl_ports.cc), this is the only place that reads the wall
// clock. Operators compare it between machines, clouds name by it the time at
// which they take a machine away, and certificates expire by it.
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
