#include "transport/memory/memory_group.h"

#include "transport/testing/group_conformance.h"

namespace skerry::transport {
namespace {

INSTANTIATE_TEST_SUITE_P(Memory, GroupConformance,
                         ::testing::Values(MakeMemoryGroup));

}  // namespace
}  // namespace skerry::transport
