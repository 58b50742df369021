// transport/testing/group_conformance.h
//
// What every Group must do. A test of an implementation says
//   INSTANTIATE_TEST_SUITE_P(X, GroupConformance, ::testing::Values(MakeX));
#ifndef SKERRY_TRANSPORT_TESTING_GROUP_CONFORMANCE_H_
#define SKERRY_TRANSPORT_TESTING_GROUP_CONFORMANCE_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "transport/group.h"

namespace skerry::transport {

using GroupMembers = std::vector<std::unique_ptr<Group>>;
// Handles of all ranks of a new group, usable from threads of this process.
using GroupFactory =
    std::function<GroupMembers(int size, absl::Duration timeout)>;

class GroupConformance : public ::testing::TestWithParam<GroupFactory> {};

// Runs `body` once a member, each on a thread of its own, until all end.
void RunMembers(GroupMembers& members, std::function<void(Group&)> body);

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_TESTING_GROUP_CONFORMANCE_H_
