#include "model/safetensors/weight_files.h"

#include <cstddef>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/spec/model_config.h"
#include "model/spec/model_graph.h"

namespace skerry::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint64_t kNoLimit = UINT64_MAX;

ParameterLayout Layout(bool tied) {
  ModelConfig config;
  config.vocab_size = 37;
  config.n_positions = 16;
  config.n_embd = 20;
  config.n_layer = 2;
  config.n_head = 2;
  config.tie_word_embeddings = tied;
  return BuildGraph(config).layout;
}

ParameterLayout LlamaLayout() {
  ModelConfig config;
  config.model_type = "llama";
  config.vocab_size = 37;
  config.n_positions = 16;
  config.n_embd = 20;
  config.n_layer = 2;
  config.n_head = 2;
  config.n_kv_head = 1;
  config.n_inner = 30;
  return BuildGraph(config).layout;
}

// Every element has its own value, exact in fp32.
std::vector<float> Numbered(const ParameterLayout& layout) {
  std::vector<float> flat(layout.element_count());
  std::iota(flat.begin(), flat.end(), 1.0f);
  return flat;
}

// The files' bytes, and views on them.
struct Files {
  std::vector<std::vector<std::byte>> bytes;
  std::vector<SafetensorsView> views;
};

Files Encode(const ParameterLayout& layout, std::span<const float> flat,
             uint64_t bytes_max, Dtype dtype = Dtype::kF32) {
  Files files;
  for (const WeightFile& file : PlanWeightFiles(layout, dtype, bytes_max)) {
    auto bytes = EncodeWeightFile(layout, file, dtype, flat);
    EXPECT_TRUE(bytes.ok()) << bytes.status();
    files.bytes.push_back(*std::move(bytes));
    auto view = SafetensorsView::Parse(files.bytes.back());
    EXPECT_TRUE(view.ok()) << view.status();
    files.views.push_back(*std::move(view));
  }
  return files;
}

// One file with one extra tensor of zeros.
Files OneTensor(const std::string& name, std::vector<int64_t> shape) {
  Files files;
  std::vector<TensorEntry> tensors = {{.name = name, .shape = shape}};
  auto bytes = SafetensorsHeader(tensors, {});
  EXPECT_TRUE(bytes.ok());
  bytes->resize(bytes->size() + tensors[0].end);
  files.bytes.push_back(*std::move(bytes));
  files.views.push_back(*SafetensorsView::Parse(files.bytes[0]));
  return files;
}

// One file with one tensor of a type whose values cannot be read.
Files OneForeignTensor(const std::string& name, std::vector<int64_t> shape,
                       const std::string& dtype, uint64_t bytes_of_values) {
  Files files;
  std::vector<TensorEntry> tensors = {{.name = name,
                                       .foreign_dtype = dtype,
                                       .shape = shape,
                                       .end = bytes_of_values}};
  auto bytes = SafetensorsHeader(tensors, {});
  EXPECT_TRUE(bytes.ok());
  bytes->resize(bytes->size() + bytes_of_values);
  files.bytes.push_back(*std::move(bytes));
  files.views.push_back(*SafetensorsView::Parse(files.bytes[0]));
  return files;
}

// One file with these tensors of fp32.
Files NamedTensors(
    const std::vector<std::pair<std::string, std::vector<float>>>& values) {
  Files files;
  std::vector<TensorEntry> tensors;
  for (const auto& [name, numbers] : values) {
    tensors.push_back(
        {.name = name, .shape = {static_cast<int64_t>(numbers.size())}});
  }
  auto bytes = SafetensorsHeader(tensors, {});
  EXPECT_TRUE(bytes.ok());
  for (const auto& [name, numbers] : values) {
    const auto raw = std::as_bytes(std::span(numbers));
    bytes->insert(bytes->end(), raw.begin(), raw.end());
  }
  files.bytes.push_back(*std::move(bytes));
  files.views.push_back(*SafetensorsView::Parse(files.bytes[0]));
  return files;
}

TEST(WeightFilesTest, EveryElementIsInExactlyOneTensorOfOneFile) {
  for (const ParameterLayout& layout :
       {Layout(/*tied=*/true), Layout(/*tied=*/false), LlamaLayout()}) {
    const std::vector<float> flat = Numbered(layout);
    for (const uint64_t bytes_max : {uint64_t{1}, uint64_t{9000}, kNoLimit}) {
      const Files files = Encode(layout, flat, bytes_max);
      std::vector<int> seen(flat.size());
      for (const SafetensorsView& view : files.views) {
        for (const TensorEntry& tensor : view.tensors()) {
          std::vector<float> values(tensor.elements());
          view.Read(tensor, values);
          for (const float value : values) {
            ++seen[static_cast<size_t>(value) - 1];
          }
        }
      }
      EXPECT_EQ(std::count(seen.begin(), seen.end(), 1),
                layout.element_count());
    }
  }
}

TEST(WeightFilesTest, NamesAndShapesAreThoseOfTransformers) {
  const ParameterLayout layout = Layout(/*tied=*/true);
  const Files files = Encode(layout, Numbered(layout), kNoLimit);
  ASSERT_EQ(files.views.size(), 1u);
  const SafetensorsView& view = files.views[0];
  EXPECT_EQ(view.metadata().at("format"), "pt");
  EXPECT_EQ(view.tensors().size(), 2u + 2 * 12 + 2);
  EXPECT_THAT(view.Find("transformer.wte.weight")->shape, ElementsAre(37, 20));
  EXPECT_THAT(view.Find("transformer.wpe.weight")->shape, ElementsAre(16, 20));
  // Conv1D of transformers keeps inputs as rows, as the layout does.
  EXPECT_THAT(view.Find("transformer.h.1.attn.c_attn.weight")->shape,
              ElementsAre(20, 60));
  EXPECT_THAT(view.Find("transformer.h.0.mlp.c_proj.weight")->shape,
              ElementsAre(80, 20));
  EXPECT_EQ(view.Find("lm_head.weight"), nullptr);
}

TEST(WeightFilesTest, WhatIsWrittenIsReadBackHoweverItIsCut) {
  for (const bool tied : {true, false}) {
    const ParameterLayout layout = Layout(tied);
    const std::vector<float> flat = Numbered(layout);
    for (const uint64_t bytes_max : {uint64_t{1}, uint64_t{9000}, kNoLimit}) {
      const Files files = Encode(layout, flat, bytes_max);
      std::vector<float> again(flat.size());
      const absl::Status read = ReadWeights(layout, files.views, again);
      EXPECT_TRUE(read.ok()) << read;
      EXPECT_EQ(again, flat);
    }
  }
}

TEST(WeightFilesTest, ShortTypesRoundEveryElement) {
  const ParameterLayout layout = Layout(/*tied=*/true);
  std::vector<float> flat = Numbered(layout);
  for (float& value : flat) value = 1 / value;
  const Files files = Encode(layout, flat, kNoLimit, Dtype::kBf16);
  std::vector<float> again(flat.size());
  ASSERT_TRUE(ReadWeights(layout, files.views, again).ok());
  for (size_t i = 0; i < flat.size(); ++i) {
    ASSERT_NEAR(again[i], flat[i], flat[i] / 256);
  }
}

TEST(WeightFilesTest, FilesKeepToTheirSizeAndTheIndexNamesThem) {
  const ParameterLayout layout = Layout(/*tied=*/true);
  const auto files = PlanWeightFiles(layout, Dtype::kF32, 9000);
  ASSERT_GT(files.size(), 2u);
  EXPECT_THAT(files[0].name, HasSubstr("model-00001-of-0000"));
  for (const WeightFile& file : files) {
    int64_t bytes = 0;
    for (const int i : file.tensors) bytes += layout.tensor(i).elements * 4;
    EXPECT_LE(bytes, 9000);
  }
  const auto map = ParseWeightIndex(WeightIndex(layout, files, Dtype::kF32));
  ASSERT_TRUE(map.ok()) << map.status();
  EXPECT_EQ(map->size(), layout.tensors().size());
  for (const WeightFile& file : files) {
    for (const int i : file.tensors) {
      EXPECT_EQ(map->at(layout.tensor(i).name), file.name);
    }
  }
}

TEST(WeightFilesTest, IndexMayNotLeaveItsFolder) {
  for (const char* name : {"../a", "a/b", "", ".hidden"}) {
    const auto map = ParseWeightIndex("{\"weight_map\":{\"w\":\"" +
                                      std::string(name) + "\"}}");
    EXPECT_THAT(std::string(map.status().message()), HasSubstr("beside"));
  }
  EXPECT_FALSE(ParseWeightIndex("{}").ok());
  EXPECT_FALSE(ParseWeightIndex("{\"weight_map\":{\"w\":1}}").ok());
}

TEST(WeightFilesTest, NamesOfABareModelAndOldMasksAreRead) {
  ParameterLayout bare;
  bare.Add("transformer.wte.weight", {2, 3}, Initializer::kNormal);
  Files files = OneTensor("wte.weight", {2, 3});
  Files mask = OneTensor("h.0.attn.bias", {1, 1, 4, 4});
  std::vector<SafetensorsView> views = {files.views[0], mask.views[0]};
  std::vector<float> flat(6, 9.0f);
  ASSERT_TRUE(ReadWeights(bare, views, flat).ok());
  EXPECT_EQ(flat, std::vector<float>(6, 0.0f));
}

TEST(WeightFilesTest, SoAreThoseOfABareLlama) {
  ParameterLayout bare;
  bare.Add("model.embed_tokens.weight", {2, 3}, Initializer::kNormal);
  Files files = OneTensor("embed_tokens.weight", {2, 3});
  Files turns = OneTensor("layers.0.self_attn.rotary_emb.inv_freq", {4});
  Files head = OneTensor("lm_head.weight", {2, 3});
  std::vector<SafetensorsView> views = {files.views[0], turns.views[0],
                                        head.views[0]};
  std::vector<float> flat(6, 9.0f);
  const absl::Status read = ReadWeights(bare, views, flat);
  EXPECT_TRUE(read.ok()) << read;
  EXPECT_EQ(flat, std::vector<float>(6, 0.0f));
}

TEST(WeightFilesTest, MasksOfBytesAndPositionsOfIntegersAreNotRead) {
  for (const ParameterLayout& layout :
       {Layout(/*tied=*/true), Layout(/*tied=*/false), LlamaLayout()}) {
    const std::vector<float> flat = Numbered(layout);
    const Files whole = Encode(layout, flat, kNoLimit);
    struct Mask {
      const char* name;
      const char* dtype;
      uint64_t bytes;
    };
    for (const Mask& mask :
         {Mask{"transformer.h.0.attn.bias", "BOOL", 256},
          Mask{"transformer.h.1.attn.bias", "U8", 256},
          Mask{"h.0.attn.bias", "BOOL", 256},
          Mask{"model.position_ids", "I64", 8},
          Mask{"embeddings.position_ids", "I32", 4},
          Mask{"some.counter", "I64", 8}, Mask{"some.flags", "BOOL", 3}}) {
      const Files other =
          OneForeignTensor(mask.name, {1, 1, 16, 16}, mask.dtype, mask.bytes);
      const std::vector<SafetensorsView> views = {other.views[0],
                                                  whole.views[0]};
      std::vector<float> again(flat.size());
      const absl::Status read = ReadWeights(layout, views, again);
      EXPECT_TRUE(read.ok()) << mask.name << ": " << read;
      EXPECT_EQ(again, flat);
    }
  }
}

TEST(WeightFilesTest, OneOfTwoTiedNamesServes) {
  ParameterLayout gpt2;
  gpt2.Add("transformer.wte.weight", {3}, Initializer::kNormal);
  ParameterLayout llama;
  llama.Add("model.embed_tokens.weight", {3}, Initializer::kNormal);
  const std::vector<float> values = {1, 2, 3};
  for (const ParameterLayout& layout : {gpt2, llama}) {
    for (const char* name : {"lm_head.weight", "module.lm_head.weight"}) {
      const Files head = NamedTensors({{name, values}});
      std::vector<float> flat(3);
      const absl::Status read = ReadWeights(layout, head.views, flat);
      EXPECT_TRUE(read.ok()) << read;
      EXPECT_EQ(flat, values);
    }
  }
  // Both, whichever comes first.
  const Files both = NamedTensors(
      {{"lm_head.weight", values}, {"transformer.wte.weight", values}});
  std::vector<float> flat(3);
  EXPECT_TRUE(ReadWeights(gpt2, both.views, flat).ok());
  const Files differ = NamedTensors(
      {{"lm_head.weight", {1, 2, 4}}, {"transformer.wte.weight", values}});
  EXPECT_THAT(std::string(ReadWeights(gpt2, differ.views, flat).message()),
              HasSubstr("lm_head.weight differs from the embedding"));
}

TEST(WeightFilesTest, AnUntiedModelNeedsItsHead) {
  const ParameterLayout layout = Layout(/*tied=*/false);
  const ParameterLayout tied = Layout(/*tied=*/true);
  const Files whole = Encode(tied, Numbered(tied), kNoLimit);
  std::vector<float> flat(layout.element_count());
  EXPECT_THAT(
      std::string(ReadWeights(layout, whole.views, flat).message()),
      HasSubstr("lm_head.weight is missing; set tie_word_embeddings to true"));
}

TEST(WeightFilesTest, EqualDuplicatesAreReadAndOthersAreNamed) {
  ParameterLayout layout;
  layout.Add("transformer.wte.weight", {2}, Initializer::kNormal);
  const Files one = NamedTensors({{"transformer.wte.weight", {1, 2}}});
  const Files equal = NamedTensors({{"module.wte.weight", {1, 2}}});
  const Files other = NamedTensors({{"module.wte.weight", {1, 3}}});
  std::vector<float> flat(2);
  const auto read = [&](std::vector<SafetensorsView> views) {
    return std::string(ReadWeights(layout, views, flat).message());
  };
  EXPECT_EQ(read({one.views[0], one.views[0], equal.views[0]}), "");
  EXPECT_EQ(flat, (std::vector<float>{1, 2}));
  EXPECT_THAT(read({one.views[0], other.views[0]}),
              HasSubstr("module.wte.weight has other values than "
                        "transformer.wte.weight; both are the same tensor"));
}

TEST(WeightFilesTest, DoublesAreRounded) {
  ParameterLayout layout;
  layout.Add("transformer.wte.weight", {2}, Initializer::kNormal);
  std::vector<TensorEntry> tensors = {
      {.name = "transformer.wte.weight", .dtype = Dtype::kF64, .shape = {2}}};
  auto bytes = SafetensorsHeader(tensors, {});
  ASSERT_TRUE(bytes.ok());
  const double values[] = {0.1, -3};
  const auto raw = std::as_bytes(std::span(values));
  bytes->insert(bytes->end(), raw.begin(), raw.end());
  const std::vector<SafetensorsView> views = {*SafetensorsView::Parse(*bytes)};
  std::vector<float> flat(2);
  ASSERT_TRUE(ReadWeights(layout, views, flat).ok());
  EXPECT_EQ(flat, (std::vector<float>{0.1f, -3}));
}

TEST(WeightFilesTest, EveryMismatchNamesItsTensor) {
  const ParameterLayout layout = Layout(/*tied=*/true);
  const std::vector<float> flat = Numbered(layout);
  const Files whole = Encode(layout, flat, kNoLimit);
  std::vector<float> out(flat.size());
  const auto refusal = [&](std::vector<SafetensorsView> views) {
    return std::string(ReadWeights(layout, views, out).message());
  };
  EXPECT_THAT(refusal({}), HasSubstr("transformer.wte.weight is missing"));
  const Files unknown = OneTensor("score.weight", {2, 20});
  EXPECT_THAT(refusal({whole.views[0], unknown.views[0]}),
              HasSubstr("score.weight is not in the model; remove it"));
  const Files adapter = OneTensor("base_model.model.x.lora_A.weight", {2, 20});
  EXPECT_THAT(refusal({whole.views[0], adapter.views[0]}),
              HasSubstr("is of a LoRA adapter; merge it"));
  const Files narrow =
      OneForeignTensor("transformer.wte.weight", {37, 20}, "F8_E4M3", 37 * 20);
  EXPECT_THAT(refusal({narrow.views[0]}),
              HasSubstr("has the dtype F8_E4M3; Skerry reads"));
  const Files shape = OneTensor("transformer.wte.weight", {20, 37});
  EXPECT_THAT(refusal({shape.views[0]}),
              HasSubstr("has the shape [20, 37], the model's is [37, 20]"));
  const Files head = OneTensor("lm_head.weight", {37, 20});
  EXPECT_THAT(refusal({whole.views[0], head.views[0]}),
              HasSubstr("lm_head.weight differs from the embedding"));
}

}  // namespace
}  // namespace skerry::model
