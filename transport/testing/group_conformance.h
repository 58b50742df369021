// transport/testing/group_conformance.h
//
// What every Group must do. A test of an implementation says
//   INSTANTIATE_TEST_SUITE_P(X, GroupConformance, ::testing::Values(MakeX));
#ifndef SKERRY_TRANSPORT_TESTING_GROUP_CONFORMANCE_H_
#define SKERRY_TRANSPORT_TESTING_GROUP_CONFORMANCE_H_

#include <functional>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "transport/testing/group_runner.h"

namespace skerry::transport {

// Handles of all ranks of a new group, usable from threads of this process.
using GroupFactory =
    std::function<GroupMembers(int size, absl::Duration timeout)>;

class GroupConformance : public ::testing::TestWithParam<GroupFactory> {};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_TESTING_GROUP_CONFORMANCE_H_
