#include "coordinator/core/state/options.h"

#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

TEST(ClusterOptionsTest, DefaultsAreValid) {
  EXPECT_TRUE(ValidateClusterOptions({}).ok());
}

TEST(ClusterOptionsTest, ALeaseOfNothingIsRefusedByName) {
  ClusterOptions options;
  options.lease = absl::ZeroDuration();
  const absl::Status status = ValidateClusterOptions(options);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("lease"), absl::string_view::npos);
}

TEST(ClusterOptionsTest, ABoundOfZeroIsRefusedByName) {
  ClusterOptions options;
  options.seats_max = 0;
  EXPECT_NE(ValidateClusterOptions(options).message().find("seats_max"),
            absl::string_view::npos);
}

}  // namespace
}  // namespace skerry::coordinator
