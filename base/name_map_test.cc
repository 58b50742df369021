#include "base/name_map.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry {
namespace {

using testing::ElementsAre;

std::vector<std::string> NamesOf(const NameMap<int>& map) {
  std::vector<std::string> names;
  for (const auto& [name, value] : map) names.push_back(name);
  return names;
}

NameMap<int> Three() {
  NameMap<int> map;
  map["west"] = 1;
  map["east"] = 2;
  map["a name that is longer than a string holds in itself"] = 3;
  return map;
}

TEST(NameMapTest, IsWalkedInTheOrderOfTheNames) {
  EXPECT_THAT(NamesOf(Three()),
              ElementsAre("a name that is longer than a string holds in itself",
                          "east", "west"));
}

TEST(NameMapTest, FindsWhatIsThereAndNothingElse) {
  NameMap<int> map = Three();
  EXPECT_EQ(map.find("west")->second, 1);
  EXPECT_EQ(map.find("nest"), map.end());
  EXPECT_FALSE(map.try_emplace("east").second);
  EXPECT_EQ(map.at("east"), 2);
  EXPECT_TRUE(map.try_emplace("north").second);
  EXPECT_EQ(map.at("north"), 0);
  EXPECT_EQ(map.size(), 4u);
}

TEST(NameMapTest, WhatIsErasedIsGone) {
  NameMap<int> map = Three();
  map.erase("west");
  map.erase("never there");
  map.erase(map.find("east"));
  EXPECT_FALSE(map.contains("west"));
  EXPECT_EQ(map.find("east"), map.end());
  EXPECT_EQ(map.size(), 1u);
}

TEST(NameMapTest, ValuesStayWhereTheyAre) {
  NameMap<int> map = Three();
  const int* const west = &map.at("west");
  for (int i = 0; i < 1000; ++i) map[std::to_string(i)] = i;
  for (int i = 0; i < 1000; i += 2) map.erase(std::to_string(i));
  EXPECT_EQ(&map.at("west"), west);
}

// A copy that found values by the index of its origin would read freed memory.
TEST(NameMapTest, ACopyStandsByItself) {
  std::optional<NameMap<int>> origin = Three();
  NameMap<int> copy = *origin;
  NameMap<int> assigned;
  assigned["north"] = 4;
  assigned = *origin;
  origin->at("west") = 9;
  origin.reset();
  EXPECT_EQ(copy.at("west"), 1);
  EXPECT_EQ(assigned.at("west"), 1);
  EXPECT_FALSE(assigned.contains("north"));
  const NameMap<int> moved = std::move(copy);
  EXPECT_EQ(moved.at("a name that is longer than a string holds in itself"), 3);
}

}  // namespace
}  // namespace skerry
