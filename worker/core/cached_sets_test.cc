#include "worker/core/cached_sets.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::worker {
namespace {

using File = CachedSets::File;
using Sizes = CachedSets::Sizes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Takes the set, stores all of its files, and releases it.
void UseOnce(CachedSets& sets, const std::string& set, const Sizes& files) {
  ASSERT_TRUE(sets.Take(set, files).ok());
  for (const auto& [name, bytes] : files) sets.OnStored(set, name);
  sets.Release(set);
}

TEST(CachedSetsTest, TheSetUsedLongestAgoMakesRoom) {
  CachedSets sets(10);
  UseOnce(sets, "a", {{"x", 2}, {"y", 2}});
  UseOnce(sets, "b", {{"x", 4}});
  UseOnce(sets, "a", {{"x", 2}, {"y", 2}});
  // Six bytes are needed, and two are free.
  EXPECT_THAT(*sets.Take("c", {{"x", 6}}), ElementsAre(File{"b", "x", 4}));
  EXPECT_TRUE(sets.IsStored("a", "y"));
  EXPECT_FALSE(sets.IsStored("b", "x"));
  EXPECT_EQ(sets.bytes(), 10u);
}

TEST(CachedSetsTest, NoMoreIsRemovedThanIsNeeded) {
  CachedSets sets(10);
  UseOnce(sets, "a", {{"x", 3}, {"y", 3}, {"z", 3}});
  EXPECT_THAT(*sets.Take("b", {{"x", 4}}), ElementsAre(File{"a", "x", 3}));
  sets.Release("b");
  // What is left of a set is of use when the set is wanted again.
  EXPECT_THAT(*sets.Take("a", {{"x", 3}, {"y", 3}, {"z", 3}}), IsEmpty());
  EXPECT_FALSE(sets.IsStored("a", "x"));
  EXPECT_TRUE(sets.IsStored("a", "z"));
}

TEST(CachedSetsTest, ASetInUseStays) {
  CachedSets sets(10);
  ASSERT_TRUE(sets.Take("a", {{"x", 6}}).ok());
  const auto second = sets.Take("b", {{"x", 5}});
  EXPECT_TRUE(absl::IsUnavailable(second.status()));
  EXPECT_THAT(std::string(second.status().message()),
              HasSubstr("other jobs use"));
  // Two jobs use it, and one ends.
  ASSERT_TRUE(sets.Take("a", {{"x", 6}}).ok());
  sets.OnStored("a", "x");
  sets.Release("a");
  EXPECT_FALSE(sets.Take("b", {{"x", 5}}).ok());
  sets.Release("a");
  EXPECT_THAT(*sets.Take("b", {{"x", 5}}), ElementsAre(File{"a", "x", 6}));
}

TEST(CachedSetsTest, ASetThatNeverFitsIsRefusedWithBothSizes) {
  CachedSets sets(uint64_t{1} << 20);
  UseOnce(sets, "a", {{"x", 9}});
  const auto taken = sets.Take("b", {{"x", uint64_t{3} << 20}});
  EXPECT_TRUE(absl::IsResourceExhausted(taken.status()));
  EXPECT_EQ(taken.status().message(),
            "the data set takes 3.0 MiB, and the cache holds at most 1.0 MiB; "
            "give this worker a larger --data-cache-gib");
  EXPECT_TRUE(sets.IsStored("a", "x"));
}

TEST(CachedSetsTest, WhatWasNeverStoredIsForgottenWithTheUse) {
  CachedSets sets(10);
  ASSERT_TRUE(sets.Take("a", {{"x", 4}, {"y", 5}}).ok());
  EXPECT_EQ(sets.bytes(), 9u);
  sets.OnStored("a", "x");
  sets.Release("a");
  EXPECT_EQ(sets.bytes(), 4u);
}

TEST(CachedSetsTest, FilesThatAreNotOfTheSetGo) {
  CachedSets sets(100);
  sets.OnFound("a", {{"x", 4}, {"y", 5}, {"z", 6}});
  EXPECT_THAT(*sets.Take("a", {{"x", 4}, {"y", 7}}),
              ElementsAre(File{"a", "y", 5}, File{"a", "z", 6}));
  EXPECT_TRUE(sets.IsStored("a", "x"));
  EXPECT_FALSE(sets.IsStored("a", "y"));
}

TEST(CachedSetsTest, ASmallerLimitIsKeptFromTheStart) {
  CachedSets sets(5);
  sets.OnFound("old", {{"x", 4}});
  sets.OnFound("new", {{"x", 4}});
  EXPECT_THAT(sets.Trim(), ElementsAre(File{"old", "x", 4}));
  EXPECT_THAT(sets.Trim(), IsEmpty());
}

TEST(CachedSetsTest, AFileThatCouldNotBeRemovedIsCountedAndTriedAgain) {
  CachedSets sets(5);
  UseOnce(sets, "a", {{"x", 4}});
  ASSERT_THAT(*sets.Take("b", {{"x", 3}}), ElementsAre(File{"a", "x", 4}));
  sets.OnNotRemoved({"a", "x", 4});
  EXPECT_EQ(sets.bytes(), 7u);
  sets.Release("b");
  EXPECT_THAT(*sets.Take("b", {{"x", 3}}), ElementsAre(File{"a", "x", 4}));
}

// Follows a cache of small sets at random. The model knows the disk and the
// order of uses, and nothing of how the cache chooses.
class Model {
 public:
  explicit Model(uint64_t seed) : random_(seed) {
    for (int s = 0; s < 6; ++s) {
      Sizes& files = files_[absl::StrCat("set", s)];
      const uint64_t count = 1 + random_.Below(4);
      for (uint64_t f = 0; f < count; ++f) {
        files[absl::StrCat("f", f)] = 1 + random_.Below(9);
      }
    }
  }

  void Step() {
    auto it = files_.begin();
    std::advance(it, random_.Below(files_.size()));
    const std::string& set = it->first;
    switch (random_.Below(4)) {
      case 0:
      case 1:
        return Take(set);
      case 2:
        return Release(set);
      default:
        return Store(set);
    }
  }

 private:
  static constexpr uint64_t kMax = 40;

  uint64_t NeededByUsers() const {
    uint64_t sum = 0;
    for (const auto& [set, users] : users_) {
      if (users == 0) continue;
      for (const auto& [name, bytes] : files_.at(set)) sum += bytes;
    }
    return sum;
  }
  uint64_t Total() const {
    uint64_t sum = NeededByUsers();
    for (const auto& [file, bytes] : disk_) {
      const auto users = users_.find(file.first);
      if (users == users_.end() || users->second == 0) sum += bytes;
    }
    return sum;
  }

  void Take(const std::string& set) {
    ++users_[set];
    const bool fits = NeededByUsers() <= kMax;
    --users_[set];
    const auto removed = sets_.Take(set, files_[set]);
    ASSERT_EQ(removed.ok(), fits) << removed.status();
    if (!fits) return;
    ++users_[set];
    last_use_[set] = ++uses_;
    for (const File& file : *removed) {
      EXPECT_EQ(users_[file.set], 0) << "a file in use was removed";
      // One file fewer would not have been enough.
      EXPECT_GT(Total(), kMax);
      ASSERT_EQ(disk_.erase({file.set, file.name}), 1u);
      // All unused sets that were used before it have nothing left.
      for (const auto& [other, bytes] : disk_) {
        if (users_[other.first] > 0 || other.first == file.set) continue;
        EXPECT_GT(last_use_[other.first], last_use_[file.set]);
      }
    }
    EXPECT_LE(Total(), kMax);
    EXPECT_EQ(sets_.bytes(), Total());
  }

  void Release(const std::string& set) {
    if (users_[set] == 0) return;
    --users_[set];
    last_use_[set] = ++uses_;
    sets_.Release(set);
    EXPECT_EQ(sets_.bytes(), Total());
  }

  void Store(const std::string& set) {
    if (users_[set] == 0) return;
    for (const auto& [name, bytes] : files_[set]) {
      const bool there = disk_.contains({set, name});
      EXPECT_EQ(sets_.IsStored(set, name), there);
      if (random_.Below(2) == 0) continue;
      // A file in use may turn out to be damaged.
      if (there && random_.Below(4) == 0) {
        disk_.erase({set, name});
        sets_.OnLost(set, name);
      } else {
        disk_[{set, name}] = bytes;
        sets_.OnStored(set, name);
      }
    }
    EXPECT_EQ(sets_.bytes(), Total());
  }

  Random random_;
  CachedSets sets_{kMax};
  std::map<std::string, Sizes> files_;
  std::map<std::string, int> users_;
  std::map<std::string, uint64_t> last_use_;
  std::map<std::pair<std::string, std::string>, uint64_t> disk_;
  uint64_t uses_ = 0;
};

TEST(CachedSetsTest, AnyOrderOfUsesKeepsTheLimitAndWhatIsInUse) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Model model(seed);
    for (int step = 0; step < 300; ++step) {
      model.Step();
      if (testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace skerry::worker
