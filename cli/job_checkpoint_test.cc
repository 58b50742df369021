#include "cli/job_checkpoint.h"

#include <functional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint_store.h"
#include "checkpoint/model_files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/directory_blob_store.h"
#include "runtime/testing/memory_files.h"

namespace skerry::cli {
namespace {

using ::testing::HasSubstr;

constexpr char kConfig[] = R"({"model_type": "gpt2", "vocab_size": 256,
  "n_positions": 8, "n_embd": 4, "n_layer": 1, "n_head": 2,
  "resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0})";
constexpr size_t kElements = 256 * 4 + 8 * 4 + 2 * 4 + 4 * 12 + 12 + 4 * 4 + 4 +
                             2 * 4 + 4 * 16 + 16 + 16 * 4 + 4 + 2 * 4;

class JobCheckpointTest : public testing::Test {
 protected:
  JobCheckpointTest() {
    for (const uint64_t sequence : {5, 7}) {
      checkpoint::Manifest about{.job = "bible",
                                 .job_id = 1,
                                 .sequence = sequence,
                                 .samples = 100 * sequence,
                                 .files = {}};
      about.order = checkpoint::SampleOrder{std::string(64, 'd'), 3, 8};
      about.consumed = {{0, 100 * sequence - 10},
                        {100 * sequence, 100 * sequence + 10}};
      Save(about);
    }
  }
  void Save(const checkpoint::Manifest& about) {
    auto writer = store_.Begin(about);
    ASSERT_TRUE(writer.ok()) << writer.status();
    checkpoint::ModelState state{.config_json = kConfig,
                                 .anchor = std::vector<float>(kElements),
                                 .outer_momentum = {}};
    if (about.layout_hash.has_value()) {
      state.config_json.clear();
      state.program = checkpoint::ProgramModel{
          {{{"all", {static_cast<int64_t>(kElements)}, model::Dtype::kF32}}},
          {},
          *about.layout_hash};
    }
    ASSERT_TRUE(checkpoint::WriteState(
                    state, 1 << 30,
                    [&](const std::string& file, runtime::ByteSpan bytes) {
                      return writer->Add(file, bytes);
                    })
                    .ok());
    ASSERT_TRUE(writer->Seal().ok());
  }
  static v1::JobSpec Job() {
    v1::JobSpec job;
    job.mutable_data()->set_manifest_sha256(std::string(64, 'd'));
    job.mutable_data()->set_seed(3);
    v1::JobSpec::Checkpoint* from = job.mutable_model()->mutable_checkpoint();
    from->set_path("/store");
    from->set_name("newest");
    from->set_samples(v1::JobSpec::SAMPLES_GO_ON);
    return job;
  }
  // What a job is refused with.
  std::string Refusal(const std::function<void(v1::JobSpec&)>& spoil) {
    v1::JobSpec job = Job();
    spoil(job);
    const absl::Status status = CompleteCheckpoint(places_, files_, &job);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    return std::string(status.message());
  }

  runtime::MemoryFiles files_;
  runtime::Folders places_{files_};
  runtime::DirectoryBlobStore blobs_{"/store", files_};
  checkpoint::CheckpointStore store_{blobs_};
};

TEST_F(JobCheckpointTest, TheNewestIsNamedWithItsHashModelAndSamples) {
  v1::JobSpec job = Job();
  const absl::Status status = CompleteCheckpoint(places_, files_, &job);
  ASSERT_TRUE(status.ok()) << status;
  const v1::JobSpec::Checkpoint& from = job.model().checkpoint();
  EXPECT_EQ(from.name(), "checkpoint-7");
  EXPECT_EQ(from.sha256().size(), 64u);
  EXPECT_THAT(job.model().config_json(), HasSubstr("\"n_embd\": 4"));
  ASSERT_EQ(from.consumed_size(), 2);
  EXPECT_EQ(from.consumed(0).end(), 690u);
  EXPECT_EQ(from.consumed(1).begin(), 700u);
  EXPECT_EQ(from.consumed(1).end(), 710u);
}

TEST_F(JobCheckpointTest, AJobThatBeginsAnewTakesNoSamplesOver) {
  v1::JobSpec job = Job();
  job.mutable_model()->mutable_checkpoint()->set_name("checkpoint-5");
  job.mutable_model()->mutable_checkpoint()->set_samples(
      v1::JobSpec::SAMPLES_ANEW);
  job.mutable_data()->set_seed(4);
  ASSERT_TRUE(CompleteCheckpoint(places_, files_, &job).ok());
  EXPECT_EQ(job.model().checkpoint().consumed_size(), 0);
}

TEST_F(JobCheckpointTest, AJobThatNamesTheHashNeedsNoFolderHere) {
  v1::JobSpec job = Job();
  job.mutable_model()->mutable_checkpoint()->set_path("/elsewhere");
  job.mutable_model()->mutable_checkpoint()->set_sha256("abc");
  EXPECT_TRUE(CompleteCheckpoint(places_, files_, &job).ok());
}

TEST_F(JobCheckpointTest, WhatCannotBeTrueIsRefusedWithWhatToDo) {
  EXPECT_THAT(
      Refusal([](v1::JobSpec& job) { job.mutable_data()->set_seed(4); }),
      HasSubstr("data.seed is 4 where the checkpoint's job had 3"));
  EXPECT_THAT(Refusal([](v1::JobSpec& job) {
                job.mutable_data()->set_sequence_tokens(4);
              }),
              HasSubstr("data.sequence_tokens is 4 where"));
  EXPECT_THAT(Refusal([](v1::JobSpec& job) {
                job.mutable_data()->set_manifest_sha256(std::string(64, 'e'));
              }),
              HasSubstr("another data set than that of the checkpoint's job"));
  EXPECT_THAT(Refusal([](v1::JobSpec& job) {
                job.mutable_model()->set_config_json(
                    R"({"model_type": "gpt2", "vocab_size": 256,
                        "n_positions": 8, "n_embd": 8, "n_layer": 1,
                        "n_head": 2, "resid_pdrop": 0.0, "embd_pdrop": 0.0,
                        "attn_pdrop": 0.0})");
              }),
              HasSubstr("model.checkpoint.path: the job's model is another"));
  EXPECT_THAT(Refusal([](v1::JobSpec& job) {
                job.mutable_model()->mutable_checkpoint()->set_path("/none");
              }),
              HasSubstr("model.checkpoint.name: /none has no complete"));
}

TEST_F(JobCheckpointTest, WithoutKnownSamplesAJobCanOnlyBeginAnew) {
  Save({.job = "bible",
        .job_id = 1,
        .sequence = 9,
        .samples = 900,
        .files = {}});
  EXPECT_THAT(
      Refusal([](v1::JobSpec&) {}),
      HasSubstr("model.checkpoint.samples: is go_on, but the checkpoint "
                "does not say which samples"));
}

class ProgramCheckpointTest : public JobCheckpointTest {
 protected:
  ProgramCheckpointTest() {
    checkpoint::Manifest about{.job = "bible",
                               .job_id = 1,
                               .sequence = 9,
                               .samples = 900,
                               .files = {}};
    about.order = checkpoint::SampleOrder{"", 3, 0, "images", 1000};
    about.consumed = {{0, 900}};
    about.layout_hash = 7;
    Save(about);
  }
  static void OfProgram(v1::JobSpec& job) {
    job.mutable_model()->mutable_program()->set_name("resnet");
    job.mutable_data()->clear_manifest_sha256();
    job.mutable_data()->set_id("images");
    job.mutable_data()->set_samples(1000);
  }
};

TEST_F(ProgramCheckpointTest, AJobOfAProgramGoesOnWithTheSameData) {
  v1::JobSpec job = Job();
  OfProgram(job);
  const absl::Status status = CompleteCheckpoint(places_, files_, &job);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(job.model().checkpoint().name(), "checkpoint-9");
  EXPECT_EQ(job.model().config_json(), "");
  ASSERT_EQ(job.model().checkpoint().consumed_size(), 1);
  EXPECT_EQ(job.model().checkpoint().consumed(0).end(), 900u);
}

TEST_F(ProgramCheckpointTest, OtherDataOrAnotherKindOfJobIsRefused) {
  EXPECT_THAT(Refusal([](v1::JobSpec& job) {
                OfProgram(job);
                job.mutable_data()->set_id("other");
              }),
              HasSubstr("data.id and data.samples are \"other\" and 1000 where "
                        "the checkpoint's job had \"images\" and 1000"));
  EXPECT_THAT(
      Refusal([](v1::JobSpec& job) {
        OfProgram(job);
        job.mutable_model()->mutable_checkpoint()->set_name("checkpoint-7");
      }),
      HasSubstr("only one has a program"));
  EXPECT_THAT(Refusal([](v1::JobSpec& job) {
                job.mutable_model()->set_config_json(kConfig);
              }),
              HasSubstr("the job's model is another one: its tensor 0 is "));
  EXPECT_THAT(Refusal([](v1::JobSpec&) {}),
              HasSubstr("name model.program or model.config"));
}

}  // namespace
}  // namespace skerry::cli
