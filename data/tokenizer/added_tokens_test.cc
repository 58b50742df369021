#include "data/tokenizer/added_tokens.h"

#include "gtest/gtest.h"

namespace skerry::data {
namespace {

TEST(AddedTokenFinderTest, TakesTheFirstAndThereTheLongest) {
  const AddedTokenFinder finder({{"<a>", 1}, {"<a>b", 2}, {"b", 3}});
  const auto first = finder.Next("x<a>b", 0);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->begin, 1u);
  EXPECT_EQ(first->end, 5u);
  EXPECT_EQ(first->token, 2);
  EXPECT_EQ(finder.Next("x<a>b", 2)->token, 3);
  EXPECT_EQ(finder.Next("x<a", 0), std::nullopt);
}

TEST(AddedTokenFinderTest, OfNoneFindsNothing) {
  EXPECT_EQ(AddedTokenFinder().Next("abc", 0), std::nullopt);
}

}  // namespace
}  // namespace skerry::data
