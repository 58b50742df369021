#include "model/safetensors/weight_names.h"

#include <string>

#include "gtest/gtest.h"

namespace skerry::model {
namespace {

constexpr char kWeight[] = "transformer.h.0.attn.c_attn.weight";
constexpr char kLlamaWeight[] = "model.layers.0.mlp.up_proj.weight";

ParameterLayout Gpt2() {
  ParameterLayout layout;
  layout.Add("transformer.wte.weight", {3, 2}, Initializer::kNormal);
  layout.Add(kWeight, {2, 6}, Initializer::kNormal);
  return layout;
}

ParameterLayout Llama(bool tied) {
  ParameterLayout layout;
  layout.Add("model.embed_tokens.weight", {3, 2}, Initializer::kNormal);
  layout.Add(kLlamaWeight, {2, 6}, Initializer::kNormal);
  if (!tied) layout.Add("lm_head.weight", {3, 2}, Initializer::kNormal);
  return layout;
}

TEST(WeightNamesTest, PrefixesOfWrappersAreTakenOff) {
  for (const std::string prefix :
       {"", "module.", "_orig_mod.", "module._orig_mod.", "_orig_mod.module.",
        "base_model.model.", "_fsdp_wrapped_module.", "model."}) {
    const NameMeaning meaning = MeaningOf(Gpt2(), prefix + kWeight);
    EXPECT_EQ(meaning.kind, NameKind::kTensor) << prefix;
    EXPECT_EQ(meaning.tensor, 1) << prefix;
    const NameMeaning llama = MeaningOf(Llama(true), prefix + kLlamaWeight);
    EXPECT_EQ(llama.kind, NameKind::kTensor) << prefix;
    EXPECT_EQ(llama.tensor, 1) << prefix;
  }
  EXPECT_EQ(MeaningOf(Gpt2(),
                      "transformer.h.0._checkpoint_wrapped_module."
                      "attn.c_attn.weight")
                .tensor,
            1);
}

TEST(WeightNamesTest, ABareModelsNamesLackTheFirstPart) {
  EXPECT_EQ(MeaningOf(Gpt2(), "h.0.attn.c_attn.weight").tensor, 1);
  EXPECT_EQ(MeaningOf(Gpt2(), "module.wte.weight").tensor, 0);
  EXPECT_EQ(MeaningOf(Llama(true), "layers.0.mlp.up_proj.weight").tensor, 1);
  EXPECT_EQ(
      MeaningOf(Llama(true), "base_model.model.embed_tokens.weight").tensor, 0);
}

TEST(WeightNamesTest, AHeadWithoutATensorOfItsOwnIsTied) {
  for (const char* name :
       {"lm_head.weight", "module.lm_head.weight", "model.lm_head.weight"}) {
    EXPECT_EQ(MeaningOf(Gpt2(), name).kind, NameKind::kTiedHead) << name;
    EXPECT_EQ(MeaningOf(Gpt2(), name).tensor, 0) << name;
    EXPECT_EQ(MeaningOf(Llama(false), name).kind, NameKind::kTensor) << name;
    EXPECT_EQ(MeaningOf(Llama(false), name).tensor, 2) << name;
  }
}

TEST(WeightNamesTest, MasksPositionsAndRotaryTablesAreDerived) {
  for (const char* name :
       {"transformer.h.0.attn.bias", "h.11.attn.masked_bias",
        "model.position_ids", "position_ids", "model.causal_mask",
        "model.layers.0.self_attn.rotary_emb.inv_freq", "rotary_emb.inv_freq",
        "module.transformer.h.0.attn.bias"}) {
    EXPECT_EQ(MeaningOf(Gpt2(), name).kind, NameKind::kDerived) << name;
  }
  for (const char* name : {"score.weight", "transformer.h.0.c_attn.bias",
                           "my_position_ids", "", "module", "."}) {
    EXPECT_EQ(MeaningOf(Gpt2(), name).kind, NameKind::kUnknown) << name;
  }
}

}  // namespace
}  // namespace skerry::model
