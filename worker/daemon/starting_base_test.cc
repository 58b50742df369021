#include "worker/daemon/starting_base.h"

#include <cstring>
#include <numeric>
#include <string>

#include "base/hash.h"
#include "checkpoint/checkpoint_store.h"
#include "checkpoint/model_files.h"
#include "checkpoint/starting_point.h"
#include "gtest/gtest.h"
#include "runtime/directory_blob_store.h"
#include "runtime/testing/memory_files.h"

namespace skerry::worker {
namespace {

constexpr char kConfig[] = R"({"model_type": "gpt2", "vocab_size": 256,
  "n_positions": 8, "n_embd": 32, "n_layer": 1, "n_head": 2,
  "resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0})";
constexpr size_t kElements = 256 * 32 + 8 * 32 + 2 * 32 + 32 * 96 + 96 +
                             32 * 32 + 32 + 2 * 32 + 32 * 128 + 128 + 128 * 32 +
                             32 + 2 * 32;

class StartingBaseTest : public testing::Test {
 protected:
  StartingBaseTest() : anchor_(kElements), momentum_(kElements) {
    std::iota(anchor_.begin(), anchor_.end(), 1.0f);
    std::iota(momentum_.begin(), momentum_.end(), -7.0f);
  }
  void Save(const std::vector<float>& momentum) {
    SaveModel(checkpoint::ModelState{
        .config_json = kConfig, .anchor = anchor_, .outer_momentum = momentum});
  }
  void SaveModel(const checkpoint::ModelState& state) {
    checkpoint::Manifest about{
        .job = "bible", .job_id = 1, .sequence = 5, .samples = 9, .files = {}};
    if (state.program.has_value()) about.layout_hash = 7;
    auto writer = store_.Begin(about);
    ASSERT_TRUE(writer.ok()) << writer.status();
    ASSERT_TRUE(checkpoint::WriteState(
                    state, 1 << 30,
                    [&](const std::string& file, runtime::ByteSpan bytes) {
                      return writer->Add(file, bytes);
                    })
                    .ok());
    ASSERT_TRUE(writer->Seal().ok());
  }
  job::JobSpec Job(job::OuterMethod method, uint32_t spans) {
    job::JobSpec job;
    job.model.config_json = kConfig;
    job.model.checkpoint = job::JobSpec::Checkpoint{
        "/store",
        "checkpoint-5",
        checkpoint::Describe({"/store", "checkpoint-5"}, places_, files_)
            ->sha256,
        job::Samples::kUnspecified,
        {}};
    job.training.samples = 100;
    job.training.batch_samples = 4;
    job.outer.method = method;
    job.exchange.spans = spans;
    return job;
  }
  // The pieces one after the other.
  static std::vector<float> ValuesOf(const StartingBase& base) {
    std::vector<float> values;
    for (const SharedBytes& content : base.files[0].contents) {
      const size_t before = values.size();
      values.resize(before + content.size() / sizeof(float));
      std::memcpy(values.data() + before, content.bytes().data(),
                  content.size());
    }
    return values;
  }

  std::vector<float> anchor_;
  std::vector<float> momentum_;
  runtime::MemoryFiles files_;
  runtime::Folders places_{files_};
  runtime::DirectoryBlobStore blobs_{"/store", files_};
  checkpoint::CheckpointStore store_{blobs_};
};

TEST_F(StartingBaseTest, EverySpanHoldsItsAnchorAndThenItsMomentum) {
  Save(momentum_);
  const auto base =
      ReadStartingBase(Job(job::OuterMethod::kDiloco, 3), places_, files_);
  ASSERT_TRUE(base.ok()) << base.status();
  ASSERT_EQ(base->files[0].file.pieces.size(), 3u);
  EXPECT_FALSE(base->files[0].file.sequence.is_set());
  size_t begin = 0;
  for (size_t i = 0; i < 3; ++i) {
    const SharedBytes& content = base->files[0].contents[i];
    EXPECT_EQ(base->files[0].file.pieces[i].span, i);
    EXPECT_EQ(base->files[0].file.pieces[i].hash, Hash64(content.bytes()));
    const size_t size = content.size() / sizeof(float) / 2;
    const auto* values = reinterpret_cast<const float*>(content.bytes().data());
    for (size_t at = 0; at < size; ++at) {
      ASSERT_EQ(values[at], anchor_[begin + at]);
      ASSERT_EQ(values[size + at], momentum_[begin + at]);
    }
    begin += size;
  }
  EXPECT_EQ(begin, kElements);
}

TEST_F(StartingBaseTest, MomentumThatIsNotThereBeginsAtZero) {
  Save({});
  const auto base =
      ReadStartingBase(Job(job::OuterMethod::kDiloco, 1), places_, files_);
  ASSERT_TRUE(base.ok()) << base.status();
  std::vector<float> expected = anchor_;
  expected.resize(2 * kElements, 0.0f);
  EXPECT_EQ(ValuesOf(*base), expected);
}

TEST_F(StartingBaseTest, AMethodWithoutMomentumTakesTheAnchorAlone) {
  Save(momentum_);
  const auto base =
      ReadStartingBase(Job(job::OuterMethod::kLocalSgd, 4), places_, files_);
  ASSERT_TRUE(base.ok()) << base.status();
  EXPECT_EQ(ValuesOf(*base), anchor_);
}

TEST_F(StartingBaseTest, ADamagedCheckpointIsNoBase) {
  Save(momentum_);
  const job::JobSpec job = Job(job::OuterMethod::kDiloco, 3);
  ASSERT_TRUE(
      files_.FlipBit("/store/checkpoint-5/outer_momentum.safetensors", 9999)
          .ok());
  EXPECT_TRUE(
      absl::IsDataLoss(ReadStartingBase(job, places_, files_).status()));
}

TEST_F(StartingBaseTest, AProgramsCheckpointSaysWhichTensorsItHas) {
  const checkpoint::TensorTable table{
      {{"all", {static_cast<int64_t>(kElements)}, model::Dtype::kBf16}}};
  checkpoint::ModelState state{
      .config_json = "", .anchor = anchor_, .outer_momentum = momentum_};
  state.program = checkpoint::ProgramModel{table, {}, 7};
  SaveModel(state);
  job::JobSpec job = Job(job::OuterMethod::kDiloco, 3);
  job.model.config_json.clear();
  job.model.program = {"resnet"};
  job::LeaveToProgram(job.training);
  const auto base = ReadStartingBase(job, places_, files_);
  ASSERT_TRUE(base.ok()) << base.status();
  EXPECT_EQ(base->tensors, table);
  EXPECT_EQ(base->files[0].file.pieces.size(), 3u);
  // The config names those of the engine's model.
  ASSERT_TRUE(files_.Remove("/store/checkpoint-5/skerry-checkpoint.json").ok());
  Save(momentum_);
  EXPECT_GT(ReadStartingBase(Job(job::OuterMethod::kDiloco, 3), places_, files_)
                ->tensors.tensors.size(),
            10u);
}

TEST_F(StartingBaseTest, AveragedTensorsHaveSpansOfTheirOwn) {
  const checkpoint::TensorTable table{
      {{"all", {5000}, model::Dtype::kF32},
       {"norm.mean", {7}, model::Dtype::kF32, {}, true}}};
  anchor_.assign(8192 + 7, 0.0f);
  std::iota(anchor_.begin(), anchor_.begin() + 5000, 1.0f);
  std::iota(anchor_.end() - 7, anchor_.end(), -3.0f);
  checkpoint::ModelState state{
      .config_json = "", .anchor = anchor_, .outer_momentum = {}};
  state.program = checkpoint::ProgramModel{table, {}, 7};
  SaveModel(state);
  job::JobSpec job = Job(job::OuterMethod::kLocalSgd, 2);
  job.model.config_json.clear();
  job.model.program = {"resnet"};
  job::LeaveToProgram(job.training);
  const auto base = ReadStartingBase(job, places_, files_);
  ASSERT_TRUE(base.ok()) << base.status();
  EXPECT_EQ(base->tensors, table);
  ASSERT_EQ(base->files[0].contents.size(), 2u);
  EXPECT_EQ(base->files[0].contents[0].size(), 8192 * sizeof(float));
  EXPECT_EQ(ValuesOf(*base), anchor_);
}

}  // namespace
}  // namespace skerry::worker
