// A checkpoint and a folder of transformers, sampled and evaluated.
#include "cli/commands/local_model.h"

#include <cmath>
#include <fstream>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/executor.h"
#include "checkpoint/checkpoint_store.h"
#include "checkpoint/model_files.h"
#include "cli/commands/evaluate.h"
#include "cli/commands/sample.h"
#include "data/byte_tokenizer_json.h"
#include "data/prepare/testing/prepare.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/exec/language_model.h"
#include "nlohmann/json.hpp"
#include "runtime/directory_blob_store.h"
#include "runtime/testing/memory_files.h"

namespace skerry::cli {
namespace {

using ::testing::HasSubstr;

constexpr char kConfig[] = R"({
  "model_type": "gpt2", "vocab_size": 256, "n_positions": 8, "n_embd": 16,
  "n_layer": 1, "n_head": 2, "resid_pdrop": 0.0, "embd_pdrop": 0.0,
  "attn_pdrop": 0.0})";
constexpr char kSentencePiece[] =
    "data/sentencepiece/main/skerry-sentencepiece";
constexpr char kText[] = "The sea was calm, and the boats weren't out.\n";

class LocalModelTest : public ::testing::Test {
 protected:
  LocalModelTest() {
    const auto config = model::ParseModelConfig(kConfig).value();
    model_ = model::LanguageModel::Create(config, {}, executor_).value();
    model::InitializeParameters(model_->layout(), config, 7,
                                model_->parameters());
    for (float& p : model_->parameters()) p *= 4;
    state_.config_json = kConfig;
    state_.tokenizer = data::ByteTokenizerJson();
    state_.anchor.assign(model_->parameters().begin(),
                         model_->parameters().end());
    WriteCheckpoint(3);
    Write("/text.txt", kText);
  }

  void Write(const std::string& path, const std::string& text) {
    ASSERT_TRUE(files_
                    .WriteDurably(path, std::as_bytes(std::span(text.data(),
                                                                text.size())))
                    .ok());
  }
  void WriteCheckpoint(uint64_t sequence) {
    runtime::DirectoryBlobStore blobs("/store", files_);
    auto writer = checkpoint::CheckpointStore(blobs).Begin(
        {.job = "a", .job_id = 1, .sequence = sequence, .files = {}});
    ASSERT_TRUE(writer.ok()) << writer.status();
    ASSERT_TRUE(checkpoint::WriteState(
                    state_, 1 << 20,
                    [&](const std::string& file, runtime::ByteSpan bytes) {
                      return writer->Add(file, bytes);
                    })
                    .ok());
    ASSERT_TRUE(writer->Seal().ok());
  }
  // Writes a folder as transformers saves a model.
  void WriteFolder() {
    ASSERT_TRUE(files_.MakeDirectory("/model").ok());
    ASSERT_TRUE(checkpoint::WriteWeights(
                    state_, {},
                    [&](const std::string& file, runtime::ByteSpan bytes) {
                      return files_.WriteDurably("/model/" + file, bytes);
                    })
                    .ok());
  }
  absl::Status Sample(OutputForm form = OutputForm::kTable) {
    out_.str("");
    return SampleTexts(sample_, files_, {form, out_, err_});
  }
  absl::Status Evaluate() {
    out_.str("");
    return EvaluateModel(evaluate_, files_, {OutputForm::kJson, out_, err_});
  }
  double Loss() { return nlohmann::json::parse(out_.str())["loss"]; }
  // The mean loss of kText's first `samples` samples of `columns` bytes each.
  double LossByHand(int samples, int columns) {
    double sum = 0;
    for (int i = 0; i < samples; ++i) {
      std::vector<int32_t> inputs, targets;
      for (int t = 0; t < columns; ++t) {
        inputs.push_back(kText[i * columns + t]);
        targets.push_back(kText[i * columns + t + 1]);
      }
      sum += static_cast<double>(model_->Loss({1, columns, inputs, targets}));
    }
    return sum / samples;
  }

  InlineExecutor executor_;
  std::unique_ptr<model::LanguageModel> model_;
  runtime::MemoryFiles files_;
  checkpoint::ModelState state_;
  SampleArguments sample_{.model = {.folder = "/store", .threads = 1},
                          .prompts = {"The"},
                          .tokens = 20,
                          .stops = {}};
  EvaluateArguments evaluate_{.model = {.folder = "/store", .threads = 1},
                              .text = "/text.txt"};
  std::ostringstream out_, err_;
};

TEST_F(LocalModelTest, AnyWayToNameItOpensTheSameModel) {
  WriteFolder();
  WriteCheckpoint(12);
  for (const char* folder : {"/store", "/store/", "/store/checkpoint-3",
                             "/store/checkpoint-12/", "/model"}) {
    const auto opened = OpenLocalModel({.folder = folder}, files_);
    ASSERT_TRUE(opened.ok()) << folder << ": " << opened.status();
    EXPECT_EQ(opened->parameters, state_.anchor) << folder;
    ASSERT_NE(opened->codec, nullptr) << folder;
    EXPECT_EQ(opened->codec->vocab_size(), 256);
  }
  EXPECT_TRUE(
      absl::IsNotFound(OpenLocalModel({.folder = "/none"}, files_).status()));
}

TEST_F(LocalModelTest, TheSeedDecidesTheText) {
  ASSERT_TRUE(Sample().ok());
  const std::string first = out_.str();
  EXPECT_EQ(first.substr(0, 3), "The");
  EXPECT_EQ(first.size(), 24u);
  ASSERT_TRUE(Sample().ok());
  EXPECT_EQ(out_.str(), first);
  sample_.seed = 1;
  ASSERT_TRUE(Sample().ok());
  EXPECT_NE(out_.str(), first);
}

TEST_F(LocalModelTest, JsonSaysWhyATextEnded) {
  sample_.temperature = 0;
  sample_.prompts = {"The", "boats"};
  ASSERT_TRUE(Sample(OutputForm::kJson).ok());
  auto json = nlohmann::json::parse(out_.str());
  ASSERT_EQ(json["texts"].size(), 2u);
  EXPECT_EQ(json["texts"][1]["prompt"], "boats");
  EXPECT_EQ(json["texts"][1]["end"], "length");
  EXPECT_EQ(json["texts"][1]["tokens"], "20");
}

// A chat model has several ends of text, named in a file of their own.
TEST_F(LocalModelTest, TextsEndAtEveryTokenOfTheGenerationConfig) {
  WriteFolder();
  sample_.model.folder = "/model";
  sample_.temperature = 0;
  ASSERT_TRUE(Sample().ok());
  const std::string whole = out_.str();
  const char end = whole[9];
  Write("/model/generation_config.json",
        absl::StrCat(R"({"eos_token_id": [299, )",
                     static_cast<int>(static_cast<uint8_t>(end)), "]}"));
  ASSERT_TRUE(Sample(OutputForm::kJson).ok());
  const auto made = nlohmann::json::parse(out_.str())["texts"][0];
  EXPECT_EQ(made["end"], "document");
  EXPECT_EQ(made["tokens"], absl::StrCat(whole.find(end, 3) - 3));
}

TEST_F(LocalModelTest, SampleNamesItsMistakes) {
  sample_.top_p = 0;
  EXPECT_THAT(std::string(Sample().message()), HasSubstr("top_p"));
  sample_.top_p = 1;
  sample_.model.threads = -1;
  EXPECT_THAT(std::string(Sample().message()), HasSubstr("--threads"));
  sample_.model.threads = 1;
  state_.tokenizer.clear();
  WriteCheckpoint(9);
  EXPECT_TRUE(absl::IsFailedPrecondition(Sample()));
  Write("/t.json", "{}");
  sample_.model.tokenizer = "/t.json";
  EXPECT_THAT(std::string(Sample().message()), HasSubstr("/t.json: "));
  Write("/t.json", data::ByteTokenizerJson());
  EXPECT_TRUE(Sample().ok());
}

TEST_F(LocalModelTest, LossOfATextIsThatOfItsSamples) {
  ASSERT_TRUE(Evaluate().ok());
  EXPECT_NEAR(Loss(), LossByHand(5, 8), 1e-5);
  EXPECT_NEAR(nlohmann::json::parse(out_.str())["perplexity"], std::exp(Loss()),
              1e-6 * std::exp(Loss()));
  evaluate_.tokens = 5;
  evaluate_.samples = 2;
  ASSERT_TRUE(Evaluate().ok());
  EXPECT_NEAR(Loss(), LossByHand(2, 5), 1e-5);
  // Shorter than one sample.
  Write("/text.txt", "The s");
  evaluate_.tokens = 0;
  ASSERT_TRUE(Evaluate().ok());
  EXPECT_NEAR(Loss(), LossByHand(1, 4), 1e-5);
}

TEST_F(LocalModelTest, LossOfADataSetIsThatOfItsSplit) {
  Write("/data.txt", std::string(kText) + "something else that is as long..\n");
  std::ostringstream made;
  ASSERT_TRUE(data::testing::Prepare({.inputs = {"/data.txt"},
                                      .output_directory = "/data",
                                      .validation_fraction = 0.4,
                                      .shard_tokens_max = 20},
                                     {}, files_, made)
                  .ok());
  evaluate_.text.clear();
  evaluate_.data = "/data";
  evaluate_.split = "train";
  ASSERT_TRUE(Evaluate().ok());
  // In three shards.
  EXPECT_NEAR(Loss(), LossByHand(5, 8), 1e-5);
  evaluate_.split = "validation";
  ASSERT_TRUE(Evaluate().ok());
  EXPECT_GT(std::abs(Loss() - LossByHand(5, 8)), 1e-3);
  ASSERT_TRUE(files_.FlipBit("/data/train_000000.bin", 1025 * 8).ok());
  evaluate_.split = "train";
  EXPECT_TRUE(absl::IsDataLoss(Evaluate()));
}

TEST_F(LocalModelTest, EvalNamesItsMistakes) {
  evaluate_.data = "/data";
  EXPECT_THAT(std::string(Evaluate().message()), HasSubstr("--data or --text"));
  evaluate_.data.clear();
  evaluate_.tokens = 9;
  EXPECT_THAT(std::string(Evaluate().message()), HasSubstr("--tokens is 9"));
  evaluate_.tokens = 0;
  Write("/text.txt", "x");
  EXPECT_THAT(std::string(Evaluate().message()), HasSubstr("needs two"));
}

std::string CharacterModel() {
  std::ifstream file("data/sentencepiece/testdata/characters.model",
                     std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

TEST_F(LocalModelTest, ATokenizerModelIsUsedAsATokenizerJsonIs) {
  state_.tokenizer = CharacterModel();
  WriteCheckpoint(9);
  // What a job's end is not known for is the model's own.
  const auto opened = OpenLocalModel({.folder = "/store"}, files_);
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(opened->codec->vocab_size(), 80);
  EXPECT_EQ(opened->codec->document_end(), 2);
  sample_.model.sentencepiece_program = kSentencePiece;
  evaluate_.model.sentencepiece_program = kSentencePiece;
  ASSERT_TRUE(Sample(OutputForm::kJson).ok());
  const auto made = nlohmann::json::parse(out_.str())["texts"][0];
  EXPECT_FALSE(made["text"].get<std::string>().empty());
  ASSERT_TRUE(Evaluate().ok());
  EXPECT_GT(Loss(), 0);
  // Decoding needs the program as encoding does.
  sample_.model.sentencepiece_program = "/none";
  EXPECT_THAT(std::string(Sample().message()), HasSubstr("cannot run /none"));
  EXPECT_EQ(out_.str(), "");
}

// As folders of Llama 2 are: both files, one of which is of another kind.
TEST_F(LocalModelTest, ATokenizerModelStandsInForAJsonThatIsNotRead) {
  WriteFolder();
  Write("/model/tokenizer.json", "{\"model\": {\"type\": \"Unigram\"}}");
  const auto none = OpenLocalModel({.folder = "/model"}, files_);
  EXPECT_THAT(std::string(none.status().message()),
              HasSubstr("/model/tokenizer.json: "));
  Write("/model/tokenizer.model", CharacterModel());
  const auto opened = OpenLocalModel({.folder = "/model"}, files_);
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(opened->codec->vocab_size(), 80);
  // Both are there, and both are read.
  Write("/model/tokenizer.json", data::ByteTokenizerJson());
  EXPECT_EQ(OpenLocalModel({.folder = "/model"}, files_)->codec->vocab_size(),
            256);
}

}  // namespace
}  // namespace skerry::cli
