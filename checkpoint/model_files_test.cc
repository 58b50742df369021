#include "checkpoint/model_files.h"

#include <fstream>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/safetensors/safetensors.h"
#include "nlohmann/json.hpp"
#include "runtime/directory_blob_store.h"
#include "runtime/testing/memory_files.h"

namespace skerry::checkpoint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::UnorderedElementsAre;

constexpr char kConfig[] = R"({
  "model_type": "gpt2", "vocab_size": 256, "n_positions": 8, "n_embd": 4,
  "n_layer": 1, "n_head": 2, "resid_pdrop": 0.0, "embd_pdrop": 0.0,
  "attn_pdrop": 0.0})";
constexpr size_t kElements = 256 * 4 + 8 * 4 + 2 * 4 + 4 * 12 + 12 + 4 * 4 + 4 +
                             2 * 4 + 4 * 16 + 16 + 16 * 4 + 4 + 2 * 4;

ModelState Example() {
  ModelState state{.config_json = kConfig,
                   .tokenizer = "{\"a\": 1}",
                   .anchor = std::vector<float>(kElements),
                   .outer_momentum = std::vector<float>(kElements)};
  std::iota(state.anchor.begin(), state.anchor.end(), 1.0f);
  std::iota(state.outer_momentum.begin(), state.outer_momentum.end(), -500.0f);
  return state;
}

// A model that only its program knows, with tensors of several types.
ModelState ProgramExample() {
  ModelState state{.config_json = "",
                   .anchor = std::vector<float>(45),
                   .outer_momentum = std::vector<float>(45)};
  std::iota(state.anchor.begin(), state.anchor.end(), 1.00001f);
  std::iota(state.outer_momentum.begin(), state.outer_momentum.end(), -5.0f);
  state.program = ProgramModel{
      {{{"lm_head.weight", {10, 4}, model::Dtype::kBf16, {"embed.weight"}},
        {"scale", {}, model::Dtype::kF32, {}},
        {"body.bias", {4}, model::Dtype::kF16, {}}},
       {"config.json", "vocab.txt"}},
      {{"config.json", "{\"model_type\": \"mine\"}"}, {"vocab.txt", "a\nb\n"}},
      7};
  return state;
}

std::optional<uint64_t> LayoutHash(const ModelState& state) {
  if (!state.program.has_value()) return std::nullopt;
  return state.program->layout_hash;
}

std::map<std::string, std::string> WeightsOf(const ModelState& state,
                                             const ModelFileOptions& options) {
  std::map<std::string, std::string> files;
  const absl::Status written = WriteWeights(
      state, options, [&](const std::string& file, runtime::ByteSpan bytes) {
        files[file] = std::string(reinterpret_cast<const char*>(bytes.data()),
                                  bytes.size());
        return absl::OkStatus();
      });
  EXPECT_TRUE(written.ok()) << written;
  return files;
}

class ModelFilesTest : public testing::Test {
 protected:
  absl::Status Write(const ModelState& state, uint64_t file_bytes_max) {
    auto writer = store_.Begin({.job = "bible",
                                .job_id = 1,
                                .sequence = 5,
                                .samples = 9,
                                .files = {},
                                .layout_hash = LayoutHash(state)});
    if (!writer.ok()) return writer.status();
    const absl::Status written =
        WriteState(state, file_bytes_max,
                   [&](const std::string& file, runtime::ByteSpan bytes) {
                     return writer->Add(file, bytes);
                   });
    return written.ok() ? writer->Seal() : written;
  }
  runtime::MemoryFiles files_;
  runtime::DirectoryBlobStore blobs_{"/store", files_};
  CheckpointStore store_{blobs_};
};

TEST_F(ModelFilesTest, AStateComesBackBitForBit) {
  for (const uint64_t file_bytes_max : {uint64_t{300}, uint64_t{1} << 30}) {
    const ModelState state = Example();
    ASSERT_TRUE(Write(state, file_bytes_max).ok());
    const auto again = ReadState(store_, "checkpoint-5");
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->anchor, state.anchor);
    EXPECT_EQ(again->outer_momentum, state.outer_momentum);
    EXPECT_EQ(again->tokenizer, state.tokenizer);
    ASSERT_TRUE(
        files_.Remove("/store/checkpoint-5/skerry-checkpoint.json").ok());
  }
}

TEST_F(ModelFilesTest, ATokenizerKeepsTheNameOfItsKind) {
  ModelState state = Example();
  // The first bytes of a model of sentencepiece.
  state.tokenizer = "\n\x0e\n\x05<unk>";
  ASSERT_TRUE(Write(state, 1 << 30).ok());
  const auto again = ReadState(store_, "checkpoint-5");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->tokenizer, state.tokenizer);
  const auto files = WeightsOf(state, {});
  EXPECT_EQ(files.at("tokenizer.model"), state.tokenizer);
  EXPECT_TRUE(files.contains("tokenizer_config.json"));
  EXPECT_FALSE(files.contains("tokenizer.json"));
}

TEST_F(ModelFilesTest, WithoutMomentumThereIsNoFileOfIt) {
  ModelState state = Example();
  state.outer_momentum.clear();
  state.tokenizer.clear();
  ASSERT_TRUE(Write(state, 1 << 30).ok());
  EXPECT_THAT(
      *blobs_.List(""),
      ElementsAre("checkpoint-5/config.json", "checkpoint-5/model.safetensors",
                  "checkpoint-5/skerry-checkpoint.json"));
  const auto again = ReadState(store_, "checkpoint-5");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(again->outer_momentum.empty());
  EXPECT_EQ(again->tokenizer, "");
}

TEST_F(ModelFilesTest, ADamagedFileIsNamed) {
  ASSERT_TRUE(Write(Example(), 1 << 30).ok());
  ASSERT_TRUE(
      files_.FlipBit("/store/checkpoint-5/outer_momentum.safetensors", 9999)
          .ok());
  const absl::Status status = ReadState(store_, "checkpoint-5").status();
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("checkpoint-5/outer_momentum.safetensors"));
}

TEST_F(ModelFilesTest, AStateOfAnotherSizeIsRefused) {
  ModelState state = Example();
  state.anchor.pop_back();
  EXPECT_TRUE(absl::IsInvalidArgument(Write(state, 1 << 30)));
  state = Example();
  state.outer_momentum.pop_back();
  EXPECT_TRUE(absl::IsInvalidArgument(Write(state, 1 << 30)));
  state = Example();
  state.config_json = "{}";
  EXPECT_TRUE(absl::IsInvalidArgument(Write(state, 1 << 30)));
}

TEST_F(ModelFilesTest, ExportedFilesAreThoseOfTransformers) {
  const auto files = WeightsOf(Example(), {.dtype = model::Dtype::kBf16});
  EXPECT_THAT(files, UnorderedElementsAre(
                         Key("model.safetensors"), Key("tokenizer.json"),
                         Key("tokenizer_config.json"), Key("config.json")));
  const auto config = nlohmann::json::parse(files.at("config.json"));
  EXPECT_EQ(config["architectures"][0], "GPT2LMHeadModel");
  EXPECT_EQ(config["torch_dtype"], "bfloat16");
  EXPECT_EQ(config["n_embd"], 4);
  EXPECT_TRUE(config["eos_token_id"].is_null());
  EXPECT_EQ(nlohmann::json::parse(
                files.at("tokenizer_config.json"))["model_max_length"],
            8);
}

// transformers prefers `dtype`, so a stale one would narrow the weights.
TEST_F(ModelFilesTest, TheTypeIsWrittenUnderOneKey) {
  const auto exported = [](const std::vector<std::string>& keys) {
    ModelState state = Example();
    auto config = nlohmann::json::parse(state.config_json);
    for (const std::string& key : keys) config[key] = "bfloat16";
    state.config_json = config.dump();
    return nlohmann::json::parse(WeightsOf(state, {}).at("config.json"));
  };
  for (const std::vector<std::string>& keys :
       {std::vector<std::string>{"dtype"}, {"dtype", "torch_dtype"}}) {
    EXPECT_EQ(exported(keys)["dtype"], "float32");
    EXPECT_FALSE(exported(keys).contains("torch_dtype"));
  }
  for (const std::vector<std::string>& keys :
       {std::vector<std::string>{}, {"torch_dtype"}}) {
    EXPECT_EQ(exported(keys)["torch_dtype"], "float32");
    EXPECT_FALSE(exported(keys).contains("dtype"));
  }
}

TEST_F(ModelFilesTest, EndsOfTextGoOutWithTheModel) {
  std::ifstream in("data/tokenizer/testdata/llama3_like.json");
  std::ostringstream tokenizer;
  tokenizer << in.rdbuf();
  const auto exported = [&](const nlohmann::json& eos) {
    ModelState state = Example();
    state.tokenizer = tokenizer.str();
    auto config = nlohmann::json::parse(state.config_json);
    config["eos_token_id"] = eos;
    state.config_json = config.dump();
    return WeightsOf(state, {});
  };
  const auto json = [](const std::string& text) {
    return nlohmann::json::parse(text);
  };
  // A list of the config's goes out as it came.
  const auto list = exported({443, 442});
  EXPECT_EQ(
      json(list.at("generation_config.json")),
      nlohmann::json({{"bos_token_id", 441}, {"eos_token_id", {443, 442}}}));
  EXPECT_EQ(json(list.at("config.json"))["eos_token_id"],
            nlohmann::json({443, 442}));
  EXPECT_EQ(json(list.at("tokenizer_config.json"))["eos_token"],
            "<|end_of_text_more|>");
  EXPECT_EQ(json(list.at("tokenizer_config.json"))["bos_token"],
            "<|begin_of_text|>");
  // What belongs to another tokenizer, or is missing, is this one's.
  for (const nlohmann::json& eos :
       {nlohmann::json(50256), nlohmann::json(nullptr)}) {
    const auto own = exported(eos);
    EXPECT_EQ(json(own.at("generation_config.json"))["eos_token_id"], 442);
    EXPECT_EQ(json(own.at("config.json"))["eos_token_id"], 442);
    EXPECT_EQ(json(own.at("config.json"))["bos_token_id"], 441);
  }
}

TEST_F(ModelFilesTest, ALargeModelHasAnIndex) {
  const auto files = WeightsOf(Example(), {.file_bytes_max = 5000});
  EXPECT_TRUE(files.contains("model.safetensors.index.json"));
  EXPECT_TRUE(files.contains("model-00001-of-00002.safetensors"));
}

TEST_F(ModelFilesTest, WhatTheTakerSaysEndsIt) {
  int taken = 0;
  const absl::Status status =
      WriteWeights(Example(), {}, [&](const std::string&, runtime::ByteSpan) {
        ++taken;
        return absl::ResourceExhaustedError("full");
      });
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_EQ(taken, 1);
}

TEST_F(ModelFilesTest, AProgramsStateComesBackBitForBitWithItsFiles) {
  for (const uint64_t file_bytes_max : {uint64_t{100}, uint64_t{1} << 30}) {
    const ModelState state = ProgramExample();
    ASSERT_TRUE(Write(state, file_bytes_max).ok());
    const auto again = ReadState(store_, "checkpoint-5");
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->anchor, state.anchor);
    EXPECT_EQ(again->outer_momentum, state.outer_momentum);
    ASSERT_TRUE(again->program.has_value());
    EXPECT_EQ(again->program->table, state.program->table);
    EXPECT_EQ(again->program->layout_hash, 7u);
    EXPECT_EQ(again->program->files[1].content, "a\nb\n");
    EXPECT_EQ(again->config_json, "");
    ASSERT_TRUE(
        files_.Remove("/store/checkpoint-5/skerry-checkpoint.json").ok());
  }
}

model::SafetensorsView ViewOf(const std::string& file) {
  return *model::SafetensorsView::Parse(
      std::as_bytes(std::span(file.data(), file.size())));
}

TEST_F(ModelFilesTest, AProgramsExportHasEachTensorInItsType) {
  const auto files = WeightsOf(ProgramExample(), {});
  // Nothing of a model that transformers is told of by Skerry, and no table.
  EXPECT_THAT(files,
              UnorderedElementsAre(Key("model.safetensors"), Key("config.json"),
                                   Key("vocab.txt")));
  EXPECT_EQ(files.at("config.json"), "{\"model_type\": \"mine\"}");
  const model::SafetensorsView view = ViewOf(files.at("model.safetensors"));
  ASSERT_EQ(view.tensors().size(), 3u);  // the tied name is left out
  EXPECT_EQ(view.Find("lm_head.weight")->dtype, model::Dtype::kBf16);
  EXPECT_EQ(view.Find("scale")->dtype, model::Dtype::kF32);
  EXPECT_TRUE(view.Find("scale")->shape.empty());
  EXPECT_EQ(view.Find("body.bias")->dtype, model::Dtype::kF16);
  EXPECT_EQ(view.metadata().at("format"), "pt");
}

TEST_F(ModelFilesTest, AProgramsExportTakesTheTypeThatIsAskedFor) {
  const auto files = WeightsOf(ProgramExample(), {.dtype = model::Dtype::kF32});
  const model::SafetensorsView view = ViewOf(files.at("model.safetensors"));
  for (const model::TensorEntry& tensor : view.tensors()) {
    EXPECT_EQ(tensor.dtype, model::Dtype::kF32) << tensor.name;
  }
}

TEST_F(ModelFilesTest, AnIndexCountsTheBytesOfEachType) {
  const auto files = WeightsOf(ProgramExample(), {.file_bytes_max = 50});
  const auto index =
      nlohmann::json::parse(files.at("model.safetensors.index.json"));
  EXPECT_EQ(index["metadata"]["total_size"], 40 * 2 + 4 + 4 * 2);
  EXPECT_EQ(index["weight_map"].size(), 3u);
}

TEST_F(ModelFilesTest, AFileOfAProgramThatIsDamagedIsNamed) {
  ASSERT_TRUE(Write(ProgramExample(), 1 << 30).ok());
  for (const char* file :
       {"skerry-tensors.json", "vocab.txt", "model.safetensors"}) {
    const std::string path = std::string("/store/checkpoint-5/") + file;
    ASSERT_TRUE(files_.FlipBit(path, 9).ok());
    const absl::Status status = ReadState(store_, "checkpoint-5").status();
    EXPECT_TRUE(absl::IsDataLoss(status)) << file;
    EXPECT_THAT(std::string(status.message()), HasSubstr(file));
    ASSERT_TRUE(files_.FlipBit(path, 9).ok());
  }
}

}  // namespace
}  // namespace skerry::checkpoint
