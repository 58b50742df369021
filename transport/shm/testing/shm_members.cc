#include "transport/shm/testing/shm_members.h"

#include <unistd.h>

#include <atomic>
#include <span>

#include "absl/strings/str_cat.h"
#include "base/hash.h"
#include "gtest/gtest.h"
#include "transport/shm/shm_group.h"

namespace skerry::transport {

// Tests run side by side in namespaces where their process ids are equal, but
// each has a temporary folder of its own.
std::string NewShmName() {
  static std::atomic<int> made = 0;
  const std::string folder = ::testing::TempDir();
  return absl::StrCat("/skerry-group-test-",
                      Hash64Of(std::span<const char>(folder)), "-", getpid(),
                      "-", ++made);
}

GroupMembers MakeShmGroup(int size, absl::Duration timeout) {
  const std::string name = NewShmName();
  GroupMembers members;
  for (int rank = 0; rank < size; ++rank) {
    members.push_back(ShmGroup::Open({name, rank, size, timeout}).value());
  }
  return members;
}

}  // namespace skerry::transport
