#include "simulator/network.h"

#include <string>

#include "gtest/gtest.h"

namespace skerry::sim {
namespace {

class NetworkTest : public testing::Test {
 protected:
  void RunAll() {
    while (timeline_.next() < Instant(absl::InfiniteDuration())) {
      timeline_.RunNext();
    }
  }
  std::shared_ptr<Stream> Connect() {
    return network_.Connect({0, [this](const absl::Status&) { said_ += "x"; }},
                            {1, [this](const absl::Status&) { said_ += "y"; }});
  }

  Timeline timeline_;
  Random random_{1};
  Network network_{timeline_, random_, 2};
  std::string said_;
};

TEST_F(NetworkTest, ACutIsOneWay) {
  network_.link(0, 1).cuts = 1;
  network_.Send(0, 1, 10, [this] { said_ += "a"; });
  network_.Send(1, 0, 10, [this] { said_ += "b"; });
  RunAll();
  EXPECT_EQ(said_, "b");
}

TEST_F(NetworkTest, MessagesAreLostAndRepeated) {
  network_.set_faults({.lost = 1.0});
  network_.Send(0, 1, 10, [this] { said_ += "a"; });
  RunAll();
  EXPECT_EQ(said_, "");
  network_.set_faults({.repeated = 1.0});
  network_.Send(0, 1, 10, [this] { said_ += "a"; });
  RunAll();
  EXPECT_EQ(said_, "aa");
}

TEST_F(NetworkTest, AStreamKeepsTheOrderThroughLosses) {
  const auto stream = Connect();
  network_.set_faults({.lost = 0.5});
  for (const char* text : {"a", "b", "c", "d", "e"}) {
    stream->Send(0, 10, [this, text] { said_ += text; });
  }
  RunAll();
  EXPECT_EQ(said_, "abcde");
}

TEST_F(NetworkTest, AStreamThatMeetsACutBreaksAtBothEnds) {
  const auto stream = Connect();
  stream->Send(0, 10, [this] { said_ += "a"; });
  network_.link(1, 0).cuts = 1;
  stream->Send(1, 10, [this] { said_ += "b"; });
  RunAll();
  EXPECT_TRUE(said_ == "xy" || said_ == "yx") << said_;
}

TEST_F(NetworkTest, TheOtherEndHearsThatAProcessEnded) {
  const auto stream = Connect();
  network_.OnProcessEnd(0);
  RunAll();
  EXPECT_EQ(said_, "y");
}

TEST_F(NetworkTest, ASlowLinkTakesTimeForEachByte) {
  network_.link(0, 1) = {.delay = absl::ZeroDuration(), .bytes_per_s = 1e3};
  network_.Send(0, 1, 1000, [] {});
  network_.Send(0, 1, 1000, [] {});
  RunAll();
  EXPECT_EQ(timeline_.now(), Instant(absl::Seconds(2)));
}

}  // namespace
}  // namespace skerry::sim
