#include "data/prepare/byte_progress.h"

#include <sstream>

#include "gtest/gtest.h"

namespace skerry::data {
namespace {

TEST(ByteProgressTest, LinesTellSpeedAndWhatIsLeft) {
  double now = 100;
  std::ostringstream err;
  ByteProgress progress(
      10'000'000, 2'000'000, [&] { return now; }, err);
  now = 102;
  progress.Add(4'000'000);
  EXPECT_EQ(err.str(), "6.0 of 10.0 MB, 2.0 MB/s, 2 s left\n");
}

TEST(ByteProgressTest, NoLineBeforeASecondOrAPercent) {
  double now = 0;
  std::ostringstream err;
  ByteProgress progress(
      10'000'000, 0, [&] { return now; }, err);
  now = 0.9;
  progress.Add(5'000'000);
  EXPECT_EQ(err.str(), "");
  now = 1;
  progress.Add(0);
  EXPECT_EQ(err.str(), "5.0 of 10.0 MB, 5.0 MB/s, 1 s left\n");
  now = 9;
  progress.Add(99'999);
  EXPECT_EQ(err.str(), "5.0 of 10.0 MB, 5.0 MB/s, 1 s left\n");
}

}  // namespace
}  // namespace skerry::data
