#include "cli/did_you_mean.h"

#include "gtest/gtest.h"

namespace skerry::cli {
namespace {

TEST(DidYouMeanTest, TheNearestIsNamed) {
  EXPECT_EQ(DidYouMean("trainning", {"name", "training"}),
            "; did you mean training?");
  EXPECT_EQ(DidYouMean("sbumit", {"watch", "submit"}),
            "; did you mean submit?");
  EXPECT_EQ(DidYouMean("tau", {"taus", "tau"}), "; did you mean tau?");
}

TEST(DidYouMeanTest, NothingNearIsNothing) {
  EXPECT_EQ(DidYouMean("colour", {"name", "model", "data"}), "");
  EXPECT_EQ(DidYouMean("xy", {"ab"}), "");
  EXPECT_EQ(DidYouMean("", {}), "");
}

}  // namespace
}  // namespace skerry::cli
