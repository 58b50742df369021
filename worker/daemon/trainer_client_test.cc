#include "worker/daemon/trainer_client.h"

#include <memory>
#include <thread>
#include <utility>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "runtime/testing/manual_loop.h"

namespace skerry::worker {
namespace {

TEST(TrainerClientTest, LeavesNoCallThatWaitsForATrainerToStart) {
  runtime::ManualLoop loop;
  auto client =
      std::make_unique<TrainerClient>("/tmp/skerry-no-such.sock", loop);
  bool answered = false;
  auto held = std::make_shared<char>();
  const std::weak_ptr<char> call = held;
  client->Describe(
      {}, [&answered, held = std::move(held)](
              const absl::StatusOr<v1::DescribeReply>&) { answered = true; });
  loop.RunUntilIdle();
  EXPECT_FALSE(call.expired());
  client.reset();
  while (!call.expired()) {
    if (loop.RunUntilIdle() == 0) std::this_thread::yield();
  }
  EXPECT_FALSE(answered);
}

}  // namespace
}  // namespace skerry::worker
