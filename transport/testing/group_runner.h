// transport/testing/group_runner.h
//
// The members of a group on threads of this process.
#ifndef SKERRY_TRANSPORT_TESTING_GROUP_RUNNER_H_
#define SKERRY_TRANSPORT_TESTING_GROUP_RUNNER_H_

#include <functional>
#include <memory>
#include <vector>

#include "transport/group.h"

namespace skerry::transport {

using GroupMembers = std::vector<std::unique_ptr<Group>>;

// Runs `body` once a member, each on a thread of its own, until all end.
void RunMembers(GroupMembers& members, std::function<void(Group&)> body);

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_TESTING_GROUP_RUNNER_H_
