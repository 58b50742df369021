// runtime/posix/cpu_limit.h
//
// Tells how many processors this process may use.
#ifndef SKERRY_RUNTIME_POSIX_CPU_LIMIT_H_
#define SKERRY_RUNTIME_POSIX_CPU_LIMIT_H_

#include <optional>
#include <string>

namespace skerry::runtime {

// The processors that the quotas of this process's control groups come to,
// those of all groups above it too, versions 1 and 2: rounded down, at least 1.
// None when there is no quota. `root` stands before /proc and /sys.
std::optional<int> CpuQuota(const std::string& root = "");

// The processors that this process may run on, or its quota when that is less;
// at least 1. More threads than that wait for each other.
int UsableCpus();

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_POSIX_CPU_LIMIT_H_
