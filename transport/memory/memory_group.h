// transport/memory/memory_group.h
//
// A group of threads in one process, for tests and simulation.
#ifndef SKERRY_TRANSPORT_MEMORY_MEMORY_GROUP_H_
#define SKERRY_TRANSPORT_MEMORY_MEMORY_GROUP_H_

#include <memory>
#include <vector>

#include "absl/time/time.h"
#include "transport/group.h"

namespace skerry::transport {

// One handle a rank, each for a thread of its own; a handle may outlive the
// others. `size` >= 1; `timeout` bounds every wait.
std::vector<std::unique_ptr<Group>> MakeMemoryGroup(int size,
                                                    absl::Duration timeout);

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_MEMORY_MEMORY_GROUP_H_
