// transport/shm/testing/shm_members.h
//
// Groups over shared memory whose members are threads of this process.
#ifndef SKERRY_TRANSPORT_SHM_TESTING_SHM_MEMBERS_H_
#define SKERRY_TRANSPORT_SHM_TESTING_SHM_MEMBERS_H_

#include <string>

#include "absl/time/time.h"
#include "transport/testing/group_runner.h"

namespace skerry::transport {

// Names a shared-memory object that no other test uses.
std::string NewShmName();

// Handles of all ranks of a new group.
GroupMembers MakeShmGroup(int size, absl::Duration timeout);

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_SHM_TESTING_SHM_MEMBERS_H_
