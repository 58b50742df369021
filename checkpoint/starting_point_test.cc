#include "checkpoint/starting_point.h"

#include <numeric>
#include <optional>
#include <span>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/spec/model_config.h"
#include "model/spec/model_graph.h"
#include "runtime/directory_blob_store.h"
#include "runtime/testing/memory_files.h"

namespace skerry::checkpoint {
namespace {

using ::testing::HasSubstr;

std::string Config(int width) {
  return absl::StrCat(
      R"({"model_type": "gpt2", "vocab_size": 256, "n_positions": 8, )",
      R"("n_layer": 1, "n_head": 2, "resid_pdrop": 0.0, "embd_pdrop": 0.0, )",
      R"("attn_pdrop": 0.0, "n_embd": )", width, "}");
}
constexpr size_t kElements = 256 * 4 + 8 * 4 + 2 * 4 + 4 * 12 + 12 + 4 * 4 + 4 +
                             2 * 4 + 4 * 16 + 16 + 16 * 4 + 4 + 2 * 4;

model::ParameterLayout LayoutOf(const std::string& config) {
  return model::BuildGraph(*model::ParseModelConfig(config)).layout;
}

ModelState Example(float first) {
  ModelState state{.config_json = Config(4),
                   .tokenizer = "{}",
                   .anchor = std::vector<float>(kElements),
                   .outer_momentum = std::vector<float>(kElements)};
  std::iota(state.anchor.begin(), state.anchor.end(), first);
  std::iota(state.outer_momentum.begin(), state.outer_momentum.end(), -first);
  return state;
}

// The same model as that of Config(4), whose tensors a program names.
ModelState ProgramExample(float first) {
  ModelState state = Example(first);
  state.program =
      ProgramModel{{{}, {"config.json"}}, {{"config.json", Config(4)}}, 7};
  const model::ParameterLayout layout = LayoutOf(state.config_json);
  for (const model::ParameterTensor& tensor : layout.tensors()) {
    state.program->table.tensors.push_back(
        {tensor.name, tensor.shape, model::Dtype::kF32});
  }
  state.config_json.clear();
  return state;
}

class StartingPointTest : public testing::Test {
 protected:
  void Save(uint64_t sequence, const ModelState& state,
            const std::string& inner = "") {
    auto writer = store_.Begin({.job = "bible",
                                .job_id = 1,
                                .sequence = sequence,
                                .samples = 9,
                                .files = {},
                                .layout_hash = state.program.has_value()
                                                   ? std::optional<uint64_t>(7)
                                                   : std::nullopt});
    ASSERT_TRUE(writer.ok()) << writer.status();
    ASSERT_TRUE(WriteState(state, 2000,
                           [&](const std::string& file, runtime::ByteSpan b) {
                             return writer->Add(file, b);
                           })
                    .ok());
    if (!inner.empty()) {
      ASSERT_TRUE(
          writer->Add("inner.safetensors", std::as_bytes(std::span(inner)))
              .ok());
    }
    ASSERT_TRUE(writer->Seal().ok());
  }
  void SaveAsTransformersDoes(const std::string& folder,
                              const ModelState& state,
                              const ModelFileOptions& options) {
    ASSERT_TRUE(files_.MakeDirectory(folder).ok());
    ASSERT_TRUE(
        WriteWeights(state, options,
                     [&](const std::string& file, runtime::ByteSpan bytes) {
                       return files_.WriteDurably(folder + "/" + file, bytes);
                     })
            .ok());
  }
  // The state, with the hash that Describe answers.
  absl::StatusOr<ModelState> Read(const StartingPoint& where,
                                  const std::string& config = Config(4)) {
    const auto found = Describe(where, places_, files_);
    if (!found.ok()) return found.status();
    return ReadStartingPoint(where, found->sha256, config, places_, files_);
  }

  runtime::MemoryFiles files_;
  runtime::Folders places_{files_};
  runtime::DirectoryBlobStore blobs_{"/store", files_};
  CheckpointStore store_{blobs_};
};

TEST_F(StartingPointTest, ACheckpointComesBackBitForBit) {
  Save(5, Example(1));
  Save(7, Example(2));
  EXPECT_EQ(*NewestName("/store", places_), "checkpoint-7");
  const auto state = Read({"/store", "checkpoint-5"});
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(state->anchor, Example(1).anchor);
  EXPECT_EQ(state->outer_momentum, Example(1).outer_momentum);
  EXPECT_EQ(
      Describe({"/store", "checkpoint-5"}, places_, files_)->manifest->samples,
      9u);
}

TEST_F(StartingPointTest, AnInnerStateIsCopiedAndBelongsToNoExport) {
  Save(5, Example(1), "moments");
  Save(7, Example(2));
  const auto copy = [this](const StartingPoint& where, std::string sha256) {
    if (sha256.empty()) sha256 = Describe(where, places_, files_)->sha256;
    return CopyInnerState(where, sha256, "/inner", places_, files_);
  };
  const StartingPoint five{"/store", "checkpoint-5"};
  EXPECT_TRUE(copy(five, "").ok());
  const auto copied = files_.Read("/inner");
  ASSERT_TRUE(copied.ok()) << copied.status();
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(copied->data()),
                        copied->size()),
            "moments");
  ASSERT_TRUE(files_.Remove("/inner").ok());
  const absl::Status none = copy({"/store", "checkpoint-7"}, "");
  EXPECT_TRUE(absl::IsNotFound(none));
  EXPECT_EQ(none.message(), "/store/checkpoint-7 has no inner state");
  EXPECT_TRUE(absl::IsFailedPrecondition(copy(five, std::string(64, 'a'))));
  ASSERT_TRUE(files_.FlipBit("/store/checkpoint-5/inner.safetensors", 9).ok());
  const absl::Status damaged = copy(five, "");
  EXPECT_TRUE(absl::IsDataLoss(damaged));
  EXPECT_THAT(std::string(damaged.message()),
              HasSubstr("checkpoint-5/inner.safetensors does not have the "
                        "hash that the manifest names"));
  EXPECT_FALSE(files_.Read("/inner").ok()) << "nothing half-copied is left";
  // The weights are read without it, and an export has no such file.
  const auto state = Read(five);
  ASSERT_TRUE(state.ok()) << state.status();
  SaveAsTransformersDoes("/exported", *state, {});
  EXPECT_FALSE(files_.Read("/exported/inner.safetensors").ok());
}

TEST_F(StartingPointTest, AModelOfTransformersHasWeightsAndNoMomentum) {
  // In one file and in several.
  for (const uint64_t file_bytes_max : {uint64_t{1} << 30, uint64_t{2000}}) {
    const std::string folder = absl::StrCat("/model", file_bytes_max);
    SaveAsTransformersDoes(folder, Example(1),
                           {.file_bytes_max = file_bytes_max});
    const auto state = Read({folder, ""});
    ASSERT_TRUE(state.ok()) << state.status();
    EXPECT_EQ(state->anchor, Example(1).anchor);
    EXPECT_TRUE(state->outer_momentum.empty());
  }
}

// As GPT-2's own config.json has it. A job may say otherwise.
TEST_F(StartingPointTest, DropoutOfAModelOfTransformersIsLeftOut) {
  SaveAsTransformersDoes("/model", Example(1), {});
  std::string config = absl::StrReplaceAll(
      Config(4), {{"\"resid_pdrop\": 0.0", "\"resid_pdrop\": 0.1"}});
  ASSERT_TRUE(
      files_
          .WriteDurably("/model/config.json", std::as_bytes(std::span(config)))
          .ok());
  const auto state = Read({"/model", ""});
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(state->anchor, Example(1).anchor);
  const auto with_dropout = Read({"/model", ""}, config);
  ASSERT_TRUE(with_dropout.ok()) << with_dropout.status();
  EXPECT_EQ(with_dropout->anchor, Example(1).anchor);
}

TEST_F(StartingPointTest, NarrowWeightsAreWidened) {
  SaveAsTransformersDoes("/model", Example(1), {.dtype = model::Dtype::kBf16});
  const auto state = Read({"/model", ""});
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(state->anchor[2], 3.0f);
}

TEST_F(StartingPointTest, OtherBytesThanThoseOfTheSubmissionAreRefused) {
  Save(5, Example(1));
  SaveAsTransformersDoes("/model", Example(1), {});
  for (const StartingPoint& where :
       {StartingPoint{"/store", "checkpoint-5"}, StartingPoint{"/model", ""}}) {
    const auto state = ReadStartingPoint(where, std::string(64, 'a'), Config(4),
                                         places_, files_);
    EXPECT_TRUE(absl::IsFailedPrecondition(state.status())) << state.status();
    EXPECT_THAT(std::string(state.status().message()),
                HasSubstr("is not what the job was submitted with"));
  }
}

TEST_F(StartingPointTest, AnotherModelIsRefusedByItsPath) {
  Save(5, Example(1));
  const auto state = Read({"/store", "checkpoint-5"}, Config(8));
  EXPECT_TRUE(absl::IsInvalidArgument(state.status()));
  EXPECT_THAT(std::string(state.status().message()),
              HasSubstr("/store/checkpoint-5: the job's model is another one: "
                        "n_embd 8 and 4"));
}

TEST_F(StartingPointTest, AFlippedBitIsFoundInEveryFile) {
  Save(5, Example(1));
  const auto found = *Describe({"/store", "checkpoint-5"}, places_, files_);
  for (const CheckpointFile& file : found.manifest->files) {
    if (file.file.find("tokenizer") != std::string::npos ||
        file.file.ends_with("index.json")) {
      continue;  // not read
    }
    const std::string path = "/store/checkpoint-5/" + file.file;
    ASSERT_TRUE(files_.FlipBit(path, 8 * file.bytes - 9).ok());
    const auto state = ReadStartingPoint(
        {"/store", "checkpoint-5"}, found.sha256, Config(4), places_, files_);
    EXPECT_TRUE(absl::IsDataLoss(state.status())) << file.file;
    EXPECT_THAT(std::string(state.status().message()), HasSubstr(file.file));
    ASSERT_TRUE(files_.FlipBit(path, 8 * file.bytes - 9).ok());
  }
  EXPECT_TRUE(Read({"/store", "checkpoint-5"}).ok());
}

TEST_F(StartingPointTest, EveryFolderThatIsNoneIsRefusedWithWhatToDo) {
  Save(5, Example(1));
  const auto message = [&](const StartingPoint& where) {
    return std::string(Describe(where, places_, files_).status().message());
  };
  EXPECT_THAT(message({"/store", ""}), HasSubstr("has no config.json; give"));
  EXPECT_THAT(message({"/store/checkpoint-5", ""}),
              HasSubstr("is a checkpoint itself: give the folder"));
  EXPECT_THAT(message({"/store", "checkpoint-6"}),
              HasSubstr("checkpoint-6 is not finished"));
  EXPECT_THAT(std::string(NewestName("/none", places_).status().message()),
              HasSubstr("/none has no complete checkpoint"));
}

TEST_F(StartingPointTest, ACheckpointOfAProgramHasATableInPlaceOfAConfig) {
  Save(5, ProgramExample(1));
  const auto found = Describe({"/store", "checkpoint-5"}, places_, files_);
  ASSERT_TRUE(found.ok()) << found.status();
  // What the program calls config.json is its own.
  EXPECT_EQ(found->config_json, "");
  ASSERT_TRUE(found->table.has_value());
  EXPECT_EQ(found->table->tensors.size(), LayoutOf(Config(4)).tensors().size());
  const auto state = Read({"/store", "checkpoint-5"}, "");
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(state->anchor, ProgramExample(1).anchor);
}

TEST_F(StartingPointTest, ProgramAndEngineGoOnFromEachOtherWhereTensorsAgree) {
  Save(5, ProgramExample(1));
  const auto state = Read({"/store", "checkpoint-5"}, Config(4));
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(state->anchor, ProgramExample(1).anchor);
  const auto other = Read({"/store", "checkpoint-5"}, Config(8));
  EXPECT_TRUE(absl::IsInvalidArgument(other.status()));
  EXPECT_THAT(std::string(other.status().message()),
              HasSubstr("the job's model is another one: its tensor 0 is "
                        "transformer.wte.weight [256, 8], not "
                        "transformer.wte.weight [256, 4]"));
  Save(6, Example(2));
  EXPECT_TRUE(Read({"/store", "checkpoint-6"}, "").ok());
}

TEST_F(StartingPointTest, AJobWithAProgramStartsFromNoOtherFolder) {
  SaveAsTransformersDoes("/model", Example(1), {});
  const auto state = Read({"/model", ""}, "");
  EXPECT_TRUE(absl::IsInvalidArgument(state.status()));
  EXPECT_THAT(std::string(state.status().message()),
              HasSubstr("/model is no checkpoint of a job"));
}

}  // namespace
}  // namespace skerry::checkpoint
