#include "cli/worker_view.h"

#include <gtest/gtest.h>

#include <string>

namespace skerry::cli {
namespace {

TEST(WorkerViewTest, WhoIsReachedThroughARelaySaysThroughWhich) {
  v1::WorkerView worker;
  worker.set_worker("hidden0");
  worker.set_reached("relay hub0, spare0");
  (*worker.mutable_relayed())["west0"] = "spare0";
  (*worker.mutable_relayed())["lone0"] = "hub0";
  const std::string text = WorkerDescription(worker, {});
  const size_t reached = text.find("relay hub0, spare0");
  const size_t lone = text.find("lone0 through relay hub0");
  const size_t west = text.find("west0 through relay spare0");
  ASSERT_NE(west, std::string::npos) << text;
  EXPECT_LT(reached, lone);
  EXPECT_LT(lone, west);
  EXPECT_EQ(text.find("passes frames"), std::string::npos);
}

TEST(WorkerViewTest, ARelaySaysHowManyPairsItHas) {
  v1::WorkerView worker;
  worker.set_relay(true);
  worker.set_relayed_pairs(3);
  EXPECT_NE(WorkerDescription(worker, {})
                .find("passes frames and fetches on between 3 pair(s)"),
            std::string::npos);
}

}  // namespace
}  // namespace skerry::cli
