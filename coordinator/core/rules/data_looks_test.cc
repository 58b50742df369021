#include "coordinator/core/rules/data_looks.h"

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "coordinator/core/testing/job_bench.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class DataLooksTest : public testing::Test {
 protected:
  DataLooksTest() {
    bench_.AddWorker("w0", "a");
    looking_.looks_at_data = true;
  }
  void Ask(const std::string& path, absl::Duration when) {
    looks_.Ask(path, Instant() + when, bench_.workers, touched_);
  }
  std::vector<std::string> Paths(absl::Duration when) const {
    return looks_.PathsFor(looking_, Instant() + when);
  }

  JobBench bench_;
  Worker looking_;
  DataLooks looks_;
  absl::btree_set<std::string> touched_;
};

TEST_F(DataLooksTest, APathIsAskedForAMinute) {
  Ask("/b", absl::ZeroDuration());
  Ask("/a", absl::ZeroDuration());
  Ask("/b", absl::Seconds(30));
  EXPECT_THAT(Paths(absl::ZeroDuration()), ElementsAre("/a", "/b"));
  EXPECT_THAT(Paths(absl::Seconds(60)), ElementsAre("/b"));
  EXPECT_THAT(Paths(absl::Seconds(90)), IsEmpty());
}

TEST_F(DataLooksTest, AWorkerThatDoesNotLookIsNotAsked) {
  Ask("/a", absl::ZeroDuration());
  EXPECT_THAT(touched_, IsEmpty());
  EXPECT_THAT(looks_.PathsFor(Worker(), Instant()), IsEmpty());
}

TEST_F(DataLooksTest, OfVeryManyPathsTheOldestIsGivenUp) {
  for (int i = 0; i < 20; ++i) {
    Ask(absl::StrCat("/", 10 + i), absl::Seconds(i));
  }
  const auto paths = Paths(absl::Seconds(20));
  EXPECT_EQ(paths.size(), 16u);
  EXPECT_EQ(paths.front(), "/14");
}

}  // namespace
}  // namespace skerry::coordinator
