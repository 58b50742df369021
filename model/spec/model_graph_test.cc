#include "model/spec/model_graph.h"

#include "gtest/gtest.h"

namespace skerry::model {
namespace {

TEST(ModelGraphTest, TheTypeDecidesTheFamily) {
  ModelConfig config;
  config.n_layer = 1;
  EXPECT_TRUE(BuildGraph(config).layout.Find("transformer.wte.weight"));
  config.model_type = "llama";
  EXPECT_TRUE(BuildGraph(config).layout.Find("model.embed_tokens.weight"));
}

}  // namespace
}  // namespace skerry::model
