#include "trainer/core/inner_tensors.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/spec/model_config.h"
#include "model/spec/model_graph.h"

namespace skerry::trainer {
namespace {

model::Graph GraphOf(const std::string& json) {
  const auto config = model::ParseModelConfig(json);
  EXPECT_TRUE(config.ok()) << config.status();
  return model::BuildGraph(*config);
}

std::vector<std::string> HiddenMatrices(const model::Graph& graph) {
  std::vector<std::string> names;
  const auto tensors = InnerTensors(graph);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto& layout = graph.layout.tensor(static_cast<int>(i));
    EXPECT_EQ(tensors[i].range.begin, static_cast<uint64_t>(layout.offset));
    EXPECT_EQ(tensors[i].range.size(), static_cast<uint64_t>(layout.elements));
    EXPECT_EQ(tensors[i].decayed, layout.weight_decay);
    if (!tensors[i].is_hidden_matrix()) continue;
    EXPECT_EQ(uint64_t(tensors[i].rows) * uint64_t(tensors[i].columns),
              tensors[i].range.size());
    names.push_back(layout.name);
  }
  return names;
}

TEST(InnerTensorsTest, EmbeddingsAndATiedHeadAreNoHiddenMatrices) {
  const std::vector<std::string> expected = {
      "transformer.h.0.attn.c_attn.weight",
      "transformer.h.0.attn.c_proj.weight", "transformer.h.0.mlp.c_fc.weight",
      "transformer.h.0.mlp.c_proj.weight"};
  const std::string config = R"({"model_type": "gpt2", "vocab_size": 11,
      "n_positions": 4, "n_embd": 6, "n_layer": 1, "n_head": 2,
      "resid_pdrop": 0, "embd_pdrop": 0, "attn_pdrop": 0,
      "tie_word_embeddings": )";
  EXPECT_EQ(HiddenMatrices(GraphOf(config + "true}")), expected);
  EXPECT_EQ(HiddenMatrices(GraphOf(config + "false}")), expected);
}

TEST(InnerTensorsTest, ProductsAreTheLibrarys) {
  const GemmProducts products(model::cpu::DefaultGemmBackend());
  const std::vector<float> a = {1, 2, 3, 4, 5, 6};  // 2 x 3
  const std::vector<float> b = {1, 0, 2, 0, 1, 3};  // 3 x 2 or 2 x 3
  std::vector<float> c(4, -1.0f);
  products.Multiply(false, 2, 2, 3, a.data(), b.data(), c.data());
  EXPECT_EQ(c, (std::vector<float>{8, 9, 20, 18}));
  products.Multiply(true, 2, 2, 3, a.data(), b.data(), c.data());
  EXPECT_EQ(c, (std::vector<float>{7, 11, 16, 23}));
}

}  // namespace
}  // namespace skerry::trainer
