#include "model/spec/config_fields.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace skerry::model {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

TEST(ConfigFieldsTest, AbsentAndNullKeysKeepWhatTheTargetHolds) {
  const Json object = {{"a", nullptr}};
  const ConfigFields fields(object);
  int number = 7;
  bool flag = true;
  EXPECT_TRUE(fields.ReadInt("a", &number).ok());
  EXPECT_TRUE(fields.ReadBool("b", &flag).ok());
  EXPECT_EQ(number, 7);
  EXPECT_TRUE(flag);
}

TEST(ConfigFieldsTest, WrongTypesAreRefusedUnderTheirFullName) {
  const Json object = {{"a", "4"}, {"b", 0}, {"c", 2.5}, {"d", 1}};
  const ConfigFields fields(object, "outer.");
  int number = 0;
  double real = 0;
  std::string text;
  bool flag = false;
  EXPECT_THAT(std::string(fields.ReadInt("a", &number).message()),
              HasSubstr("config.json: outer.a: is \"4\""));
  EXPECT_FALSE(fields.ReadInt("b", &number).ok());
  EXPECT_FALSE(fields.ReadInt("c", &number).ok());
  EXPECT_FALSE(fields.ReadNumber("a", &real).ok());
  EXPECT_FALSE(fields.ReadString("d", &text).ok());
  EXPECT_FALSE(fields.ReadBool("d", &flag).ok());
}

TEST(ConfigFieldsTest, HarmlessValuesPassAndOthersDoNot) {
  const Json object = {{"a", 0.0}, {"b", 0.5}};
  const ConfigFields fields(object);
  EXPECT_TRUE(fields.RefuseUnless("a", 0).ok());
  EXPECT_TRUE(fields.RefuseUnless("absent", 0).ok());
  EXPECT_THAT(std::string(fields.RefuseUnless("b", 0).message()),
              HasSubstr("b: is 0.5"));
}

TEST(ConfigFieldsTest, UnknownKeysAreRefusedUnlessNullOrBookkeeping) {
  const Json object = {{"known", 1},
                       {"gone", nullptr},
                       {"_name_or_path", "x"},
                       {"bos_token_id", 3}};
  EXPECT_TRUE(ConfigFields(object).RefuseOthers({"known"}).ok());
  EXPECT_THAT(std::string(ConfigFields(object).RefuseOthers({}).message()),
              HasSubstr("config.json: known"));
}

TEST(ConfigFieldsTest, WhatAllModelsHaveIsRefusedUnlessItIsNotUsed) {
  const Json object = {{"add_cross_attention", false},
                       {"is_encoder_decoder", false},
                       {"pruned_heads", Json::object()},
                       {"tie_encoder_decoder", false}};
  EXPECT_TRUE(ConfigFields(object).RefuseOthers({}).ok());
  for (const auto& [key, value] : object.items()) {
    Json other = object;
    other[key] = value.is_object() ? Json{{"0", {1}}} : Json(true);
    EXPECT_THAT(std::string(ConfigFields(other).RefuseOthers({}).message()),
                HasSubstr("config.json: " + key));
  }
}

// Keys that other tools leave in public configs.
TEST(ConfigFieldsTest, HarmlessKeysAreJudgedByTheirValue) {
  for (const Json& harmless :
       {Json{{"transformers.js_config", {{"dtype", "q4"}}}},
        Json{{"unsloth_version", "2025.1.5"}, {"unsloth_fixed", true}},
        Json{{"auto_map", {{"AutoModel", "modeling.Model"}}}},
        Json{{"neftune_noise_alpha", 5}}, Json{{"use_sliding_window", false}},
        Json{{"use_sliding_window", false}, {"sliding_window", 4096}},
        Json{{"layer_types", {"full_attention", "full_attention"}}},
        Json{{"layer_types", Json::array()}}, Json{{"qkv_bias", false}},
        Json{{"final_logit_softcapping", 0.0}}, Json{{"adapters", ""}},
        Json{{"embedding_multiplier", 1.0}}, Json{{"is_causal", true}},
        Json{{"max_window_layers", 28}}}) {
    const absl::Status status = ConfigFields(harmless).RefuseOthers({});
    EXPECT_TRUE(status.ok()) << status;
  }
  for (const Json& other :
       {Json{{"use_sliding_window", true}}, Json{{"sliding_window", 4096}},
        Json{{"layer_types", {"full_attention", "sliding_attention"}}},
        Json{{"qkv_bias", true}}, Json{{"final_logit_softcapping", 30.0}},
        Json{{"embedding_multiplier", 12.0}}, Json{{"is_causal", false}}}) {
    const std::string key = other.begin().key();
    EXPECT_THAT(std::string(ConfigFields(other).RefuseOthers({}).message()),
                HasSubstr("config.json: " + key));
  }
}

TEST(ConfigFieldsTest, QuantisedCheckpointsAreRefusedAsSuch) {
  const Json object = {{"quantization_config", {{"quant_method", "gptq"}}}};
  EXPECT_THAT(std::string(ConfigFields(object).RefuseOthers({}).message()),
              HasSubstr("quantised checkpoint"));
}

TEST(ConfigFieldsTest, EveryListedKeyIsFound) {
  for (const char* key :
       {"architectures", "dtype", "gradient_checkpointing", "is_decoder",
        "max_sequence_length", "num_labels", "top_k", "transformers_version",
        "use_bfloat16", "use_cache"}) {
    EXPECT_TRUE(IsBookkeeping(key)) << key;
  }
  EXPECT_FALSE(IsBookkeeping("sliding_window"));
}

}  // namespace
}  // namespace skerry::model
