#include "cli/commands/checkpoint.h"

#include <sstream>

#include "checkpoint/checkpoint_store.h"
#include "checkpoint/model_files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "runtime/directory_blob_store.h"
#include "runtime/testing/memory_files.h"

namespace skerry::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kConfig[] = R"({
  "model_type": "gpt2", "vocab_size": 3, "n_positions": 2, "n_embd": 2,
  "n_layer": 1, "n_head": 1, "resid_pdrop": 0.0, "embd_pdrop": 0.0,
  "attn_pdrop": 0.0})";
constexpr size_t kElements = 3 * 2 + 2 * 2 + 2 * 2 + 2 * 6 + 6 + 2 * 2 + 2 +
                             2 * 2 + 2 * 8 + 8 + 8 * 2 + 2 + 2 * 2;

class CheckpointCommandTest : public testing::Test {
 protected:
  CheckpointCommandTest() { arguments_.folder = "/store"; }
  void Write(uint64_t sequence, bool has_inner = false) {
    Write(sequence,
          checkpoint::ModelState{.config_json = kConfig,
                                 .anchor = std::vector<float>(
                                     kElements, static_cast<float>(sequence)),
                                 .outer_momentum = {}},
          has_inner);
  }
  void Write(uint64_t sequence, const checkpoint::ModelState& state,
             bool has_inner = false) {
    runtime::DirectoryBlobStore blobs("/store", files_);
    checkpoint::Manifest about{.job = "bible",
                               .job_id = 1,
                               .sequence = sequence,
                               .samples = 80 * sequence,
                               .files = {}};
    if (state.program.has_value()) about.layout_hash = 7;
    auto writer = checkpoint::CheckpointStore(blobs).Begin(about);
    ASSERT_TRUE(writer.ok()) << writer.status();
    ASSERT_TRUE(checkpoint::WriteState(
                    state, 1 << 20,
                    [&](const std::string& file, runtime::ByteSpan bytes) {
                      return writer->Add(file, bytes);
                    })
                    .ok());
    if (has_inner) {
      ASSERT_TRUE(writer->Add("inner.safetensors", {}).ok());
    }
    ASSERT_TRUE(writer->Seal().ok());
  }
  using Command = absl::Status (*)(const CheckpointArguments&, runtime::Files&,
                                   const Output&);
  absl::Status Run(Command command, OutputForm form = OutputForm::kTable) {
    std::ostringstream out, err;
    const absl::Status status =
        command(arguments_, files_, Output{form, out, err});
    out_ = out.str();
    return status;
  }

  runtime::MemoryFiles files_;
  CheckpointArguments arguments_;
  std::string out_;
};

TEST_F(CheckpointCommandTest, ListShowsWhatCountsAndWhatDoesNot) {
  Write(2);
  Write(10);
  ASSERT_TRUE(
      files_.Remove("/store/checkpoint-10/skerry-checkpoint.json").ok());
  ASSERT_TRUE(Run(ListCheckpoints).ok());
  EXPECT_THAT(out_, HasSubstr("NAME           JOB    SEQUENCE"));
  EXPECT_THAT(out_, HasSubstr("checkpoint-2   bible         2      160"));
  EXPECT_THAT(out_, HasSubstr("checkpoint-10  -            10"));
  EXPECT_THAT(out_, HasSubstr("unfinished"));
  ASSERT_TRUE(Run(ListCheckpoints, OutputForm::kJson).ok());
  const auto json = nlohmann::json::parse(out_);
  EXPECT_EQ(json["checkpoints"][0]["samples"], "160");
  EXPECT_EQ(json["checkpoints"][1]["state"], "unfinished");
}

TEST_F(CheckpointCommandTest, ListTellsWhichOnesHaveAnInnerState) {
  Write(2);
  Write(4, /*has_inner=*/true);
  ASSERT_TRUE(Run(ListCheckpoints).ok());
  EXPECT_THAT(out_, HasSubstr("INNER STATE  STATE"));
  EXPECT_THAT(out_, HasSubstr("no           complete\n"));
  EXPECT_THAT(out_, HasSubstr("yes          complete\n"));
  ASSERT_TRUE(Run(ListCheckpoints, OutputForm::kJson).ok());
  const auto json = nlohmann::json::parse(out_);
  EXPECT_EQ(json["checkpoints"][0]["inner_state"], false);
  EXPECT_EQ(json["checkpoints"][1]["inner_state"], true);
  arguments_.out = "/out";
  ASSERT_TRUE(Run(ExportCheckpoint).ok());
  EXPECT_THAT(*files_.List("/out"),
              ElementsAre("config.json", "model.safetensors"));
}

TEST_F(CheckpointCommandTest, VerifyNamesWhatIsDamaged) {
  EXPECT_TRUE(absl::IsNotFound(Run(VerifyCheckpoints)));
  for (uint64_t sequence : {1, 2, 3}) Write(sequence);
  EXPECT_TRUE(Run(VerifyCheckpoints).ok());
  EXPECT_EQ(out_, "checkpoint-1  ok\ncheckpoint-2  ok\ncheckpoint-3  ok\n");
  ASSERT_TRUE(
      files_.FlipBit("/store/checkpoint-2/model.safetensors", 4000).ok());
  EXPECT_TRUE(absl::IsDataLoss(Run(VerifyCheckpoints)));
  EXPECT_THAT(out_, HasSubstr("checkpoint-2/model.safetensors does not have"));
  EXPECT_THAT(out_, HasSubstr("checkpoint-3  ok"));
  arguments_.name = "checkpoint-3";
  EXPECT_TRUE(Run(VerifyCheckpoints).ok());
  EXPECT_EQ(out_, "checkpoint-3  ok\n");
  arguments_.name = "checkpoint-4";
  EXPECT_TRUE(absl::IsNotFound(Run(VerifyCheckpoints)));
}

TEST_F(CheckpointCommandTest, ExportTakesTheNewestCompleteOne) {
  arguments_.out = "/out";
  EXPECT_TRUE(absl::IsNotFound(Run(ExportCheckpoint)));
  Write(1);
  Write(2);
  Write(3);
  ASSERT_TRUE(files_.Remove("/store/checkpoint-3/skerry-checkpoint.json").ok());
  const absl::Status status = Run(ExportCheckpoint);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(*files_.List("/out"),
              ElementsAre("config.json", "model.safetensors"));
  EXPECT_EQ(*files_.Read("/out/model.safetensors"),
            *files_.Read("/store/checkpoint-2/model.safetensors"));
  EXPECT_TRUE(absl::IsAlreadyExists(Run(ExportCheckpoint)));
}

TEST_F(CheckpointCommandTest, ExportRefusesADamagedOne) {
  Write(1);
  ASSERT_TRUE(
      files_.FlipBit("/store/checkpoint-1/model.safetensors", 4000).ok());
  arguments_.out = "/out";
  EXPECT_TRUE(absl::IsDataLoss(Run(ExportCheckpoint)));
  EXPECT_TRUE(absl::IsNotFound(files_.List("/out").status()));
}

TEST_F(CheckpointCommandTest, ExportNarrowsAndCuts) {
  Write(1);
  arguments_.out = "/out";
  arguments_.dtype = model::Dtype::kBf16;
  arguments_.file_bytes_max = 100;
  ASSERT_TRUE(Run(ExportCheckpoint).ok());
  EXPECT_TRUE(files_.Read("/out/model.safetensors.index.json").ok());
  const auto config = files_.Read("/out/config.json");
  EXPECT_THAT(std::string(reinterpret_cast<const char*>(config->data()),
                          config->size()),
              HasSubstr("bfloat16"));
}

TEST_F(CheckpointCommandTest, ExportOfAProgramsModelHasItsTypesAndFiles) {
  checkpoint::ModelState state{
      .config_json = "", .anchor = {1, 2, 3}, .outer_momentum = {}};
  state.program = checkpoint::ProgramModel{
      {{{"a", {2}, model::Dtype::kBf16}, {"b", {}, model::Dtype::kF32}},
       {"vocab.txt"}},
      {{"vocab.txt", "x"}},
      7};
  Write(1, state);
  arguments_.out = "/out";
  const absl::Status status = Run(ExportCheckpoint);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(*files_.List("/out"),
              ElementsAre("model.safetensors", "vocab.txt"));
  const auto weights = files_.Read("/out/model.safetensors");
  EXPECT_THAT(std::string(reinterpret_cast<const char*>(weights->data()),
                          weights->size()),
              HasSubstr("BF16"));
  // It has no config.json, and is not written over for that.
  EXPECT_TRUE(absl::IsAlreadyExists(Run(ExportCheckpoint)));
}

}  // namespace
}  // namespace skerry::cli
