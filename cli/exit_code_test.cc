#include "cli/exit_code.h"

#include <utility>

#include "gtest/gtest.h"

namespace skerry::cli {
namespace {

TEST(ExitCodeTest, EveryStatusHasTheCodeThatThePageNames) {
  const std::pair<absl::StatusCode, int> kPage[] = {
      {absl::StatusCode::kOk, 0},
      {absl::StatusCode::kInternal, 1},
      {absl::StatusCode::kUnknown, 1},
      {absl::StatusCode::kDataLoss, 1},
      {absl::StatusCode::kNotFound, 3},
      {absl::StatusCode::kAlreadyExists, 4},
      {absl::StatusCode::kFailedPrecondition, 4},
      {absl::StatusCode::kAborted, 4},
      {absl::StatusCode::kUnauthenticated, 5},
      {absl::StatusCode::kPermissionDenied, 5},
      {absl::StatusCode::kUnavailable, 6},
      {absl::StatusCode::kDeadlineExceeded, 6},
      {absl::StatusCode::kResourceExhausted, 6},
      {absl::StatusCode::kInvalidArgument, 7},
      {absl::StatusCode::kOutOfRange, 7},
  };
  for (const auto& [code, exit] : kPage) {
    EXPECT_EQ(static_cast<int>(ExitCodeFor(absl::Status(code, "x"))), exit);
  }
}

}  // namespace
}  // namespace skerry::cli
