#include "model/spec/parameter_layout.h"

#include <numeric>
#include <vector>

#include "gtest/gtest.h"

namespace skerry::model {
namespace {

TEST(ParameterLayoutTest, TensorsFollowOneAnother) {
  ParameterLayout layout;
  EXPECT_EQ(layout.element_count(), 0);
  EXPECT_EQ(layout.Add("a", {2, 3}, Initializer::kNormal), 0);
  EXPECT_EQ(layout.Add("b", {5}, Initializer::kZero), 1);
  EXPECT_EQ(layout.tensor(1).offset, 6);
  EXPECT_EQ(layout.tensor(1).elements, 5);
  EXPECT_EQ(layout.element_count(), 11);
}

TEST(ParameterLayoutTest, MatricesDecayAndVectorsDoNot) {
  ParameterLayout layout;
  layout.Add("a", {2, 3}, Initializer::kNormal);
  layout.Add("b", {5}, Initializer::kZero);
  EXPECT_TRUE(layout.tensor(0).weight_decay);
  EXPECT_FALSE(layout.tensor(1).weight_decay);
}

TEST(ParameterLayoutTest, SlicesAreTheTensorsElements) {
  ParameterLayout layout;
  layout.Add("a", {2, 3}, Initializer::kNormal);
  layout.Add("b", {5}, Initializer::kZero);
  std::vector<float> flat(11);
  std::iota(flat.begin(), flat.end(), 0.0f);
  const std::span<float> slice = layout.Slice(std::span<float>(flat), 1);
  EXPECT_EQ(slice.size(), 5);
  EXPECT_EQ(slice[0], 6);
}

TEST(ParameterLayoutTest, FindsByNameOnly) {
  ParameterLayout layout;
  layout.Add("a", {1}, Initializer::kZero);
  EXPECT_EQ(layout.Find("a"), 0);
  EXPECT_FALSE(layout.Find("A").has_value());
}

}  // namespace
}  // namespace skerry::model
