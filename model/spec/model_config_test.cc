#include "model/spec/model_config.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::model {
namespace {

using ::testing::HasSubstr;

TEST(ModelConfigTest, OtherModelsAreRefusedByName) {
  const auto config = ParseModelConfig(R"({"model_type": "mamba"})");
  ASSERT_FALSE(config.ok());
  EXPECT_THAT(config.status().message(), HasSubstr("model_type: is \"mamba\""));
  EXPECT_THAT(ParseModelConfig("{}").status().message(),
              HasSubstr("model_type: is missing"));
  EXPECT_THAT(ParseModelConfig(R"({"model_type": 3})").status().message(),
              HasSubstr("model_type"));
}

TEST(ModelConfigTest, TextThatIsNoObjectIsRefused) {
  EXPECT_FALSE(ParseModelConfig("[1]").ok());
  EXPECT_FALSE(ParseModelConfig("{").ok());
  EXPECT_FALSE(ParseModelConfig("").ok());
}

TEST(ModelConfigTest, ConfigsMadeInCodeAreCheckedToo) {
  ModelConfig config;
  EXPECT_TRUE(ValidateModelConfig(config).ok());
  config.n_head = 7;
  EXPECT_FALSE(ValidateModelConfig(config).ok());
  config.model_type = "mamba";
  EXPECT_THAT(ValidateModelConfig(config).message(), HasSubstr("mamba"));
}

TEST(ModelConfigTest, OnlyDynamicScalingReachesBeyondThePositions) {
  ModelConfig config;
  config.rotary.factor = 2.5;
  EXPECT_EQ(config.positions_max(), 1024);
  config.rotary.scaling = RotaryScaling::kLinear;
  EXPECT_EQ(config.positions_max(), 1024);
  config.rotary.scaling = RotaryScaling::kDynamic;
  EXPECT_EQ(config.positions_max(), 2560);
}

}  // namespace
}  // namespace skerry::model
