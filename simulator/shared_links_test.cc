#include "simulator/shared_links.h"

#include <deque>
#include <string>

#include "gtest/gtest.h"

namespace skerry::sim {
namespace {

class SharedLinksTest : public testing::Test {
 protected:
  void RunAll() {
    while (timeline_.next() < Instant(absl::InfiniteDuration())) {
      timeline_.RunNext();
    }
  }
  // When the message has left, in seconds.
  double* Send(SharedLinks::FlowId flow, double bytes) {
    double* const left = &left_.emplace_back(-1);
    links_.Send(flow, bytes, [this, left] {
      *left = absl::ToDoubleSeconds(timeline_.now().since_start());
    });
    return left;
  }

  Timeline timeline_;
  SharedLinks links_{timeline_};
  std::deque<double> left_;
};

TEST_F(SharedLinksTest, AMessageTakesItsBytesByTheSlowestLink) {
  const auto flow = links_.Open({links_.AddLink(1000), links_.AddLink(500)});
  const double* const left = Send(flow, 1000);
  RunAll();
  EXPECT_NEAR(*left, 2, 1e-6);
}

TEST_F(SharedLinksTest, WhoIsLeftGetsTheWholeLink) {
  const auto link = links_.AddLink(1000);
  const double* const small = Send(links_.Open({link}), 1000);
  const double* const large = Send(links_.Open({link}), 2000);
  RunAll();
  EXPECT_NEAR(*small, 2, 1e-6);
  EXPECT_NEAR(*large, 3, 1e-6);
}

TEST_F(SharedLinksTest, WhatOneCannotUseGoesToTheOther) {
  const auto wide = links_.AddLink(100);
  const auto narrow = links_.AddLink(20);
  const double* const free = Send(links_.Open({wide}), 80);
  const double* const bound = Send(links_.Open({wide, narrow}), 20);
  RunAll();
  EXPECT_NEAR(*free, 1, 1e-6);
  EXPECT_NEAR(*bound, 1, 1e-6);
}

TEST_F(SharedLinksTest, OneFlowSendsInOrder) {
  const auto flow = links_.Open({links_.AddLink(10)});
  std::string order;
  for (const char* text : {"a", "b", "c"}) {
    links_.Send(flow, 10, [&order, text] { order += text; });
  }
  RunAll();
  EXPECT_EQ(order, "abc");
  EXPECT_NEAR(absl::ToDoubleSeconds(timeline_.now().since_start()), 3, 1e-6);
}

TEST_F(SharedLinksTest, WhatWaitsInAClosedFlowIsLostAndTakesNoShare) {
  const auto link = links_.AddLink(10);
  const auto gone = links_.Open({link});
  const double* const lost = Send(gone, 100);
  const double* const kept = Send(links_.Open({link}), 20);
  timeline_.After(absl::Seconds(2), [&] { links_.Close(gone); });
  RunAll();
  EXPECT_EQ(*lost, -1);
  // Half of the link for two seconds, then all of it.
  EXPECT_NEAR(*kept, 3, 1e-6);
}

TEST_F(SharedLinksTest, WithoutLinksNothingTakesTime) {
  const double* const left = Send(links_.Open({}), 1e12);
  RunAll();
  EXPECT_EQ(*left, 0);
}

TEST_F(SharedLinksTest, ManyFlowsFillALinkWhateverTheirSizes) {
  const auto link = links_.AddLink(1e6);
  double bytes = 0;
  for (int i = 0; i < 40; ++i) {
    const auto flow = links_.Open({link});
    for (int k = 0; k < 25; ++k) {
      Send(flow, 1 + 997.0 * ((i * 25 + k) % 13));
      bytes += 1 + 997.0 * ((i * 25 + k) % 13);
    }
  }
  RunAll();
  EXPECT_NEAR(absl::ToDoubleSeconds(timeline_.now().since_start()), bytes / 1e6,
              1e-4);
}

}  // namespace
}  // namespace skerry::sim
