// Exported models in transformers, where Python has it: the same logits as the
// engine's. SKERRY_PYTHON names the interpreter; python3 when unset.
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/executor.h"
#include "base/testing/golden_file.h"
#include "checkpoint/model_files.h"
#include "gtest/gtest.h"
#include "model/exec/language_model.h"

namespace skerry::checkpoint {
namespace {

using ::skerry::testing::GoldenFile;

std::string Python() {
  const char* named = std::getenv("SKERRY_PYTHON");
  return named != nullptr ? named : "python3";
}

int ExitCode(const std::string& command) {
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

template <typename T>
void WriteValues(const std::string& path, const std::vector<T>& values) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(T)));
}

class TransformersTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (ExitCode(Python() + " -c 'import torch, transformers, safetensors' "
                            "2>/dev/null") != 0) {
      GTEST_SKIP() << Python()
                   << " cannot import torch, transformers and safetensors";
    }
    const std::string path = absl::StrCat("model/exec/testdata/", GetParam());
    golden_ = skerry::testing::ReadGoldenFile(path + ".golden");
    state_.config_json = skerry::testing::ReadTextFile(path + ".json");
    auto model = model::LanguageModel::Create(
        *model::ParseModelConfig(state_.config_json), {.rows_max = rows()},
        executor_);
    ASSERT_TRUE(model.ok()) << model.status();
    model_ = *std::move(model);
    const model::ParameterLayout& layout = model_->layout();
    for (size_t i = 0; i < layout.tensors().size(); ++i) {
      const auto& values =
          golden_.floats.at("parameter " + layout.tensors()[i].name);
      std::copy(
          values.begin(), values.end(),
          layout.Slice(model_->parameters(), static_cast<int>(i)).begin());
    }
    state_.anchor.assign(model_->parameters().begin(),
                         model_->parameters().end());
  }
  int rows() const { return golden_.ints.at("shape")[0]; }
  int columns() const { return golden_.ints.at("shape")[1]; }

  void Export(const ModelFileOptions& options, const std::string& folder) {
    std::filesystem::create_directories(folder);
    const absl::Status written = WriteWeights(
        state_, options,
        [&folder](const std::string& file, runtime::ByteSpan bytes) {
          WriteValues<std::byte>(absl::StrCat(folder, "/", file),
                                 {bytes.begin(), bytes.end()});
          return absl::OkStatus();
        });
    EXPECT_TRUE(written.ok()) << written;
  }

  // Exports, and lets transformers compare.
  int Compare(const ModelFileOptions& options) {
    const std::string folder =
        absl::StrCat(::testing::TempDir(), "export-", GetParam(), "-",
                     options.file_bytes_max);
    Export(options, folder);
    const std::vector<int32_t>& inputs = golden_.ints.at("inputs");
    std::vector<float> logits(inputs.size() * model_->config().vocab_size);
    model_->Logits(inputs, rows(), columns(), logits);
    WriteValues(folder + ".inputs", inputs);
    WriteValues(folder + ".logits", logits);
    return ExitCode(absl::StrCat(Python(), " tools/gen/transformers_logits.py ",
                                 folder, " ", rows(), " ", columns()));
  }

  InlineExecutor executor_;
  GoldenFile golden_;
  ModelState state_;
  std::unique_ptr<model::LanguageModel> model_;
};

TEST_P(TransformersTest, AnExportedModelHasTheEnginesLogits) {
  EXPECT_EQ(Compare({}), 0);
}

TEST_P(TransformersTest, SoDoesOneInSeveralFiles) {
  EXPECT_EQ(Compare({.file_bytes_max = 10000}), 0);
}

// transformers 5 would round the weights to what `dtype` says.
TEST_P(TransformersTest, AModelOfAFolderInBf16IsExportedAsTheFp32ThatItIs) {
  state_.config_json.insert(1, R"("dtype": "bfloat16",)");
  EXPECT_EQ(Compare({.file_bytes_max = 1 << 20}), 0);
}

// A program that trains a model of transformers saves its config, too.
TEST_P(TransformersTest, SoDoesAModelOfAProgramWithItsOwnConfig) {
  ProgramModel program{{{}, {"config.json"}}, {}, 1};
  for (const model::ParameterTensor& tensor : model_->layout().tensors()) {
    program.table.tensors.push_back(
        {tensor.name, tensor.shape, model::Dtype::kF32});
  }
  ASSERT_TRUE(
      WriteWeights(
          state_, {},
          [&](const std::string& file, runtime::ByteSpan b) {
            if (file == "config.json") {
              program.files.push_back(
                  {file, {reinterpret_cast<const char*>(b.data()), b.size()}});
            }
            return absl::OkStatus();
          })
          .ok());
  state_.program = std::move(program);
  EXPECT_EQ(Compare({.file_bytes_max = 20000}), 0);
}

TEST_P(TransformersTest, AnExportedTokenizerKnowsWhereATextEnds) {
  state_.tokenizer =
      skerry::testing::ReadTextFile("data/tokenizer/testdata/llama3_like.json");
  const std::string folder =
      absl::StrCat(::testing::TempDir(), "tokenizer-", GetParam());
  Export({}, folder);
  EXPECT_EQ(ExitCode(Python() +
                     " -c 'import sys, transformers as t\n"
                     "own = t.AutoTokenizer.from_pretrained(sys.argv[1])\n"
                     "made = t.GenerationConfig.from_pretrained(sys.argv[1])\n"
                     "print(own.eos_token, own.bos_token, made)\n"
                     "assert own.eos_token_id == made.eos_token_id == 442\n"
                     "assert own.bos_token_id == made.bos_token_id == 441' " +
                     folder),
            0);
}

INSTANTIATE_TEST_SUITE_P(Models, TransformersTest,
                         ::testing::Values("gpt2_tied", "gpt2_untied",
                                           "llama_grouped",
                                           "llama_tied_llama3"));

}  // namespace
}  // namespace skerry::checkpoint
