#include "base/json_members.h"

#include "gtest/gtest.h"

namespace skerry {
namespace {

TEST(JsonMembersTest, OnlyMembersOfTheirKindAreRead) {
  const Json json = Json::parse(
      R"({"name": "a", "count": 18446744073709551615, "below": -1, "half": 0.5,
          "nothing": null})");
  EXPECT_EQ(StringMember(json, "name"), "a");
  EXPECT_EQ(CountMember(json, "count"), ~uint64_t{0});
  for (const char* key : {"below", "half", "nothing", "name", "absent"}) {
    EXPECT_EQ(CountMember(json, key), std::nullopt) << key;
  }
  for (const char* key : {"count", "nothing", "absent"}) {
    EXPECT_EQ(StringMember(json, key), std::nullopt) << key;
  }
  EXPECT_NE(FindMember(json, "nothing"), nullptr);
  EXPECT_EQ(FindMember(json, "absent"), nullptr);
}

TEST(JsonMembersTest, WhatIsNoObjectHasNoMembers) {
  EXPECT_EQ(FindMember(Json::parse("[1]"), "0"), nullptr);
  EXPECT_EQ(StringMember(Json("text"), "text"), std::nullopt);
  EXPECT_EQ(CountMember(Json(7), "7"), std::nullopt);
}

}  // namespace
}  // namespace skerry
