#include "runtime/testing/manual_loop.h"

#include <gtest/gtest.h>

#include "runtime/testing/event_loop_conformance.h"

namespace skerry::runtime {
namespace {

class ManualLoopDriver {
 public:
  EventLoop& loop() { return loop_; }
  void Await(std::function<void(Task done)> body) {
    bool is_done = false;
    loop_.Post([&] { body([&is_done] { is_done = true; }); });
    loop_.RunUntilIdle();
    while (!is_done && loop_.NextTimer().has_value()) {
      loop_.AdvanceTo(*loop_.NextTimer());
    }
    ASSERT_TRUE(is_done);
  }

 private:
  ManualLoop loop_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(ManualLoop, EventLoopConformance,
                               ManualLoopDriver);

TEST(ManualLoopTest, TimeStandsStillUntilItIsMoved) {
  ManualLoop loop;
  int ran = 0;
  loop.RunAt(loop.Now() + absl::Hours(1), [&ran] { ++ran; });
  EXPECT_EQ(loop.RunUntilIdle(), 0u);
  EXPECT_EQ(loop.Advance(absl::Minutes(59)), 0u);
  EXPECT_EQ(loop.Advance(absl::Minutes(1)), 1u);
  EXPECT_EQ(ran, 1);
}

TEST(ManualLoopTest, ATimerSeesItsOwnInstantAndMayArmTheNext) {
  ManualLoop loop;
  std::vector<Instant> seen;
  loop.RunAt(Instant(absl::Seconds(1)), [&] {
    seen.push_back(loop.Now());
    loop.RunAt(loop.Now() + absl::Seconds(1),
               [&] { seen.push_back(loop.Now()); });
  });
  loop.AdvanceTo(Instant(absl::Seconds(10)));
  EXPECT_EQ(seen, (std::vector<Instant>{Instant(absl::Seconds(1)),
                                        Instant(absl::Seconds(2))}));
  EXPECT_EQ(loop.Now(), Instant(absl::Seconds(10)));
}

}  // namespace
}  // namespace skerry::runtime
