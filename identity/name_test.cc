#include "identity/name.h"

#include <string>

#include "gtest/gtest.h"

namespace skerry::identity {
namespace {

TEST(NameTest, EachFormIsReadAsItIsWritten) {
  const std::pair<Name, std::string> forms[] = {
      {{"lab", CoordinatorName()}, "spiffe://lab/coordinator"},
      {{"lab.a-1", WorkerName{"west", "gpu_1.A"}},
       "spiffe://lab.a-1/island/west/worker/gpu_1.A"},
      {{"lab", OperatorName{Role::kViewer, "eve"}},
       "spiffe://lab/operator/viewer/eve"},
      {{"lab", OperatorName{Role::kOperator, "eve"}},
       "spiffe://lab/operator/operator/eve"},
      {{"lab", OperatorName{Role::kAdmin, "eve"}},
       "spiffe://lab/operator/admin/eve"},
  };
  for (const auto& [name, uri] : forms) {
    EXPECT_EQ(FormatName(name), uri);
    const absl::StatusOr<Name> read = ParseName(uri);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(*read, name);
  }
}

TEST(NameTest, EverythingElseIsRefused) {
  for (const char* other : {
           "",
           "spiffe://",
           "spiffe://lab",
           "spiffe://lab/",
           "spiffe://lab/coordinator/",
           "spiffe://lab/coordinator/x",
           "spiffe:///coordinator",
           "SPIFFE://lab/coordinator",
           "https://lab/coordinator",
           "spiffe://Lab/coordinator",
           "spiffe://lab/Coordinator",
           "spiffe://lab/island/west/worker/",
           "spiffe://lab/island//worker/a",
           "spiffe://lab/island/../worker/a",
           "spiffe://lab/island/west/worker/a/b",
           "spiffe://lab/island/west/trainer/a",
           "spiffe://lab/island/west/worker/a b",
           "spiffe://lab/island/west/worker/a%2Fb",
           "spiffe://lab/operator/root/eve",
           "spiffe://lab/operator/admin",
           "spiffe://lab/operator/admin/eve?x",
           "spiffe://lab@x/coordinator",
           "spiffe://lab:1/coordinator",
           "\n",
       }) {
    const absl::Status refused = ParseName(other).status();
    EXPECT_TRUE(absl::IsInvalidArgument(refused)) << other;
    EXPECT_EQ(refused.message().find('\n'), absl::string_view::npos);
  }
  EXPECT_FALSE(
      ParseName("spiffe://lab/operator/admin/" + std::string(41, 'x')).ok());
  EXPECT_TRUE(
      ParseName("spiffe://lab/operator/admin/" + std::string(40, 'x')).ok());
}

TEST(NameTest, RolesHaveWords) {
  for (const Role role : {Role::kViewer, Role::kOperator, Role::kAdmin}) {
    const absl::StatusOr<Role> read = ParseRole(RoleWord(role));
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(*read, role);
  }
  EXPECT_FALSE(ParseRole("Admin").ok());
}

}  // namespace
}  // namespace skerry::identity
