#include "coordinator/core/state/reach_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace skerry::coordinator {
namespace {

using protocol::Tried;
using Names = ReachTable::Names;

class ReachTableTest : public testing::Test {
 protected:
  static Tried Found(const std::string& worker, const std::string& error,
                     double age_s = 0) {
    return {worker, Incarnation(1), absl::Seconds(age_s), 1, error};
  }
  // A second later the finder says what it found.
  Names Hear(const std::string& finder, const std::vector<Tried>& found) {
    now_ = now_ + absl::Seconds(1);
    return reach_.Heard(finder, found, now_);
  }

  ReachTable reach_;
  Instant now_{absl::Seconds(1000)};
};

constexpr char kRefused[] = "Connection refused";

TEST_F(ReachTableTest, WhoDialsOutAndCannotBeDialledIsHidden) {
  EXPECT_TRUE(Hear("a", {Found("b", kRefused)}).empty());
  EXPECT_TRUE(Hear("b", {Found("a", "")}).empty());
  EXPECT_EQ(Hear("a", {Found("b", kRefused)}), Names{"b"});
  EXPECT_TRUE(reach_.IsHidden("b"));
  EXPECT_FALSE(reach_.IsHidden("a"));
  EXPECT_TRUE(Hear("a", {Found("b", kRefused)}).empty());
}

TEST_F(ReachTableTest, TwoThatAreCutOffFromEachOtherAreNotHidden) {
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(Hear("a", {Found("b", kRefused)}).empty());
    EXPECT_TRUE(Hear("b", {Found("a", kRefused)}).empty());
  }
}

// It was cut off while others dialled it, and what it found is from before, or
// theirs is from before it came back.
TEST_F(ReachTableTest, WhoComesBackIsNotHidden) {
  Hear("b", {Found("a", "")});
  Hear("a", {Found("b", kRefused)});
  EXPECT_TRUE(Hear("b", {Found("a", "", 20)}).empty());
  EXPECT_TRUE(Hear("a", {Found("b", kRefused)}).empty());
  // It is back, and a has not dialled it since.
  EXPECT_TRUE(Hear("b", {Found("a", "")}).empty());
  EXPECT_TRUE(Hear("a", {Found("b", kRefused, 15)}).empty());
  EXPECT_TRUE(Hear("a", {Found("b", "")}).empty());
  EXPECT_TRUE(reach_.hidden().empty());
}

TEST_F(ReachTableTest, WhomAnybodyCanDialIsNotHidden) {
  Hear("c", {Found("b", "")});
  Hear("a", {Found("b", kRefused)});
  Hear("b", {Found("a", "")});
  EXPECT_TRUE(Hear("a", {Found("b", kRefused)}).empty());
  // The one that could is gone.
  Hear("c", {});
  EXPECT_EQ(Hear("a", {Found("b", kRefused)}), Names{"b"});
  EXPECT_EQ(Hear("c", {Found("b", "")}), Names{"b"});
  EXPECT_FALSE(reach_.IsHidden("b"));
}

TEST_F(ReachTableTest, AHiddenOneStaysSoWhenThoseWhoSaidItAreGone) {
  Hear("a", {Found("b", kRefused)});
  Hear("b", {Found("a", "")});
  Hear("a", {Found("b", kRefused)});
  reach_.Forget("a");
  EXPECT_TRUE(reach_.IsHidden("b"));
  EXPECT_TRUE(reach_.Of("b").empty());
  EXPECT_TRUE(reach_.Of("a").empty());
}

TEST_F(ReachTableTest, ANewProcessStartsAnew) {
  Hear("a", {Found("b", kRefused)});
  Hear("b", {Found("a", "")});
  Hear("a", {Found("b", kRefused)});
  reach_.Forget("b");
  EXPECT_FALSE(reach_.IsHidden("b"));
  EXPECT_TRUE(reach_.Of("b").empty());
  EXPECT_TRUE(reach_.Of("a").empty());
}

}  // namespace
}  // namespace skerry::coordinator
