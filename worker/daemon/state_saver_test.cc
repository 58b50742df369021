#include "worker/daemon/state_saver.h"

#include <map>
#include <numeric>
#include <utility>

#include "base/hash.h"
#include "checkpoint/checkpoint_store.h"
#include "checkpoint/model_files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "planner/spans.h"
#include "runtime/directory_blob_store.h"
#include "runtime/testing/manual_loop.h"
#include "runtime/testing/memory_files.h"
#include "worker/daemon/saved_state.h"

namespace skerry::worker {
namespace {

using protocol::JobOrders;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kConfig[] = R"({"model_type": "gpt2", "vocab_size": 256,
  "n_positions": 8, "n_embd": 32, "n_layer": 1, "n_head": 2,
  "resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0})";
constexpr size_t kElements = 256 * 32 + 8 * 32 + 2 * 32 + 32 * 96 + 96 +
                             32 * 32 + 32 + 2 * 32 + 32 * 128 + 128 + 128 * 32 +
                             32 + 2 * 32;
constexpr uint32_t kSpans = 3;

// Two workers, of which "a" has the first span and "b" all of them.
class StateSaverTest : public testing::Test {
 protected:
  StateSaverTest()
      : saver_(JobId(7), Fetch(), Write(), [this] { ++changes_; }) {
    std::vector<float> values(kElements);
    std::iota(values.begin(), values.end(), 1.0f);
    const auto spans = planner::CutSpans(kElements, kSpans);
    for (const planner::SpanRange& span : *spans) {
      auto piece = std::make_shared<std::vector<float>>(
          values.begin() + static_cast<ptrdiff_t>(span.begin),
          values.begin() + static_cast<ptrdiff_t>(span.end));
      piece->resize(2 * span.size(), 0.5f);  // momentum
      pieces_.push_back(SharedBytes(piece));
    }
  }

  StateSaver::Fetch Fetch() {
    return [this](const std::string& worker, const PieceKey& key,
                  Done<absl::StatusOr<SharedBytes>> done) {
      loop_.Post([this, worker, key, done = std::move(done)]() mutable {
        std::move(done)(loop_.Now(), Answer(worker, key.span));
      });
    };
  }
  StateSaver::Write Write() {
    return [this](StateToSave state, StateSaver::Written written) {
      state.program = program_;
      state.inner = inner_;
      loop_.Post([outcome = SaveState(state, places_, files_),
                  written = std::move(written)]() mutable {
        std::move(written)(std::move(outcome));
      });
    };
  }
  absl::StatusOr<SharedBytes> Answer(const std::string& worker, uint32_t span) {
    ++asked_[worker];
    if (gone_ == worker) return absl::UnavailableError("no answer");
    return pieces_[span];
  }

  JobOrders Orders(uint64_t sequence, uint32_t keep = 3) {
    JobOrders orders;
    orders.spec.name = "bible";
    orders.spec.model.config_json = kConfig;
    orders.spec.data.manifest_sha256 = std::string(64, 'a');
    orders.spec.data.sequence_tokens = 8;
    orders.spec.exchange.spans = kSpans;
    orders.spec.checkpoint =
        job::JobSpec::Checkpoints{.directory = "/saved", .keep = keep};
    protocol::CheckpointOrder& order = orders.checkpoint.emplace();
    order.sequence = Sequence(sequence);
    order.samples_committed = 8;
    order.consumed = data::RangeSet(data::SampleRange{0, 8});
    for (const SharedBytes& piece : pieces_) {
      order.pieces.push_back({Hash64(piece.bytes()), {"b"}});
    }
    order.pieces.front().workers = {"a", "b"};
    return orders;
  }
  CheckpointFact Save(const JobOrders& orders) {
    saver_.OnOrders(orders, kElements);
    loop_.RunUntilIdle();
    return saver_.outcome().value_or(CheckpointFact());
  }
  std::vector<uint64_t> Finished() {
    std::vector<uint64_t> sequences;
    const auto all = store_.List();
    for (const checkpoint::Listed& one : *all) {
      if (one.status.ok()) sequences.push_back(one.sequence);
    }
    return sequences;
  }

  runtime::ManualLoop loop_;
  runtime::MemoryFiles files_;
  runtime::Folders places_{files_};
  runtime::DirectoryBlobStore blobs_{"/saved", files_};
  checkpoint::CheckpointStore store_{blobs_};
  std::vector<SharedBytes> pieces_;
  std::map<std::string, int> asked_;
  std::string gone_;
  // What the trainer says of its model, in a job with a program.
  std::shared_ptr<const checkpoint::ProgramModel> program_;
  SharedBytes inner_;  // of the trainer, at the order's sequence
  int changes_ = 0;
  StateSaver saver_;
};

TEST_F(StateSaverTest, TheSavedStateIsWhole) {
  saver_.OnOrders(Orders(5), kElements);
  ASSERT_TRUE(saver_.outcome().has_value());
  EXPECT_EQ(saver_.outcome()->sequence, Sequence(5));
  EXPECT_TRUE(saver_.outcome()->sha256.empty());
  loop_.RunUntilIdle();
  const CheckpointFact outcome = *saver_.outcome();
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.sha256.size(), 64u);
  EXPECT_EQ(changes_, 2);
  ASSERT_TRUE(store_.Verify("checkpoint-5").ok());
  const auto manifest = store_.Find("checkpoint-5");
  EXPECT_EQ(manifest->job_id, 7u);
  EXPECT_EQ(manifest->samples, 8u);
  EXPECT_THAT(manifest->consumed, ElementsAre(data::SampleRange{0, 8}));
  const auto state = checkpoint::ReadState(store_, "checkpoint-5");
  ASSERT_TRUE(state.ok()) << state.status();
  ASSERT_EQ(state->anchor.size(), kElements);
  EXPECT_EQ(state->anchor.front(), 1.0f);
  EXPECT_EQ(state->anchor.back(), static_cast<float>(kElements));
  EXPECT_EQ(state->outer_momentum, std::vector<float>(kElements, 0.5f));
}

TEST_F(StateSaverTest, TheTrainersInnerStateIsOneOfTheFiles) {
  inner_ = SharedBytes(std::vector<std::byte>(1000, std::byte(3)));
  const CheckpointFact outcome = Save(Orders(5));
  ASSERT_EQ(outcome.error, "");
  const auto manifest = store_.Find("checkpoint-5");
  ASSERT_TRUE(manifest.ok()) << manifest.status();
  const checkpoint::CheckpointFile* file =
      checkpoint::FindInnerState(*manifest);
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->bytes, 1000u);
  EXPECT_TRUE(store_.Verify("checkpoint-5").ok());
  EXPECT_TRUE(checkpoint::ReadState(store_, "checkpoint-5").ok());
  // Another worker that is told to save the same state has other moments.
  inner_ = SharedBytes();
  StateSaver other(JobId(7), Fetch(), Write(), [] {});
  other.OnOrders(Orders(5), kElements);
  loop_.RunUntilIdle();
  EXPECT_EQ(other.outcome()->sha256, outcome.sha256);
  EXPECT_EQ(other.outcome()->bytes, outcome.bytes);
  EXPECT_EQ(Save(Orders(6)).error, "");
  EXPECT_EQ(checkpoint::FindInnerState(*store_.Find("checkpoint-6")), nullptr);
}

TEST_F(StateSaverTest, AProgramsStateIsSavedWithItsTensorsAndFiles) {
  program_ =
      std::make_shared<checkpoint::ProgramModel>(checkpoint::ProgramModel{
          {{{"all", {kElements}, model::Dtype::kBf16}}, {"vocab.txt"}},
          {{"vocab.txt", "a"}},
          9});
  JobOrders orders = Orders(5);
  orders.spec.model.config_json.clear();
  orders.spec.model.program = {"resnet"};
  orders.spec.data = {};
  orders.spec.data.seed = 3;
  orders.spec.data.id = "images";
  orders.spec.data.samples = 1000;
  EXPECT_EQ(Save(orders).error, "");
  const auto manifest = store_.Find("checkpoint-5");
  ASSERT_TRUE(manifest.ok()) << manifest.status();
  EXPECT_EQ(manifest->layout_hash, 9u);
  EXPECT_EQ(manifest->order,
            (checkpoint::SampleOrder{"", 3, 0, "images", 1000}));
  const auto state = checkpoint::ReadState(store_, "checkpoint-5");
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(state->program->table, program_->table);
  EXPECT_EQ(state->program->files[0].content, "a");
  EXPECT_EQ(state->anchor.back(), static_cast<float>(kElements));
}

// The gap before them is in spans, and in no file.
TEST_F(StateSaverTest, AveragedTensorsAreSavedWithTheOthers) {
  program_ =
      std::make_shared<checkpoint::ProgramModel>(checkpoint::ProgramModel{
          {{{"all", {5000}, model::Dtype::kF32},
            {"norm.mean", {7}, model::Dtype::kF32, {}, true}},
           {}},
          {},
          9});
  pieces_.clear();
  for (const size_t size : {size_t{4096}, size_t{4096}, size_t{7}}) {
    pieces_.push_back(SharedBytes(std::make_shared<std::vector<float>>(
        size, static_cast<float>(pieces_.size()) + 1.0f)));
  }
  JobOrders orders = Orders(5);
  orders.spec.model.config_json.clear();
  orders.spec.model.program = {"resnet"};
  orders.spec.data = {};
  orders.spec.data.id = "images";
  saver_.OnOrders(orders, 8192 + 7);
  loop_.RunUntilIdle();
  ASSERT_EQ(saver_.outcome()->error, "");
  const auto state = checkpoint::ReadState(store_, "checkpoint-5");
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(state->program->table, program_->table);
  ASSERT_EQ(state->anchor.size(), 8192u + 7);
  EXPECT_EQ(state->anchor[4095], 1.0f);
  EXPECT_EQ(state->anchor[4999], 2.0f);
  EXPECT_EQ(state->anchor[5000], 0.0f);
  EXPECT_EQ(state->anchor.back(), 3.0f);
}

TEST_F(StateSaverTest, TheFolderIsLookedAtBeforehand) {
  const job::JobSpec spec = Orders(5).spec;
  EXPECT_TRUE(CheckCheckpointFolder(JobId(7), spec, "a", places_).ok());
  Save(Orders(5));
  EXPECT_TRUE(CheckCheckpointFolder(JobId(7), spec, "a", places_).ok());
  EXPECT_EQ(CheckCheckpointFolder(JobId(8), spec, "a", places_).message(),
            "checkpoint.directory /saved: the folder has checkpoints of job "
            "bible (number 7), not of bible (number 8); give each job a folder "
            "of its own");
  files_.FailChangesAfter(0, absl::PermissionDeniedError("read-only"));
  EXPECT_EQ(CheckCheckpointFolder(JobId(7), spec, "a", places_).message(),
            "checkpoint.directory /saved: /saved/probe-a: read-only");
}

TEST_F(StateSaverTest, TheSameOrderAgainDoesNothing) {
  Save(Orders(5));
  const auto asked = asked_;
  Save(Orders(5));
  EXPECT_EQ(asked_, asked);
}

TEST_F(StateSaverTest, NothingStartsBeforeTheModelIsKnown) {
  saver_.OnOrders(Orders(5), 0);
  EXPECT_FALSE(saver_.outcome().has_value());
  EXPECT_EQ(Save(Orders(5)).error, "");
}

TEST_F(StateSaverTest, AnotherHolderIsAskedWhenOneIsGone) {
  gone_ = "a";
  EXPECT_EQ(Save(Orders(5)).error, "");
  EXPECT_TRUE(store_.Verify("checkpoint-5").ok());
}

TEST_F(StateSaverTest, APieceThatNobodyHasIsSaid) {
  gone_ = "b";
  EXPECT_EQ(Save(Orders(5)).error, "no answer");
  EXPECT_THAT(Finished(), ElementsAre());
  gone_ = "";
  // The coordinator has heard of it, and asks again.
  EXPECT_EQ(Save(Orders(5)).error, "no answer");
  saver_.OnOrders(JobOrders(), kElements);
  EXPECT_FALSE(saver_.outcome().has_value());
  EXPECT_EQ(Save(Orders(5)).error, "");
}

TEST_F(StateSaverTest, ADamagedPieceIsNotSaved) {
  JobOrders orders = Orders(5);
  orders.checkpoint->pieces[1].hash = 1;
  EXPECT_THAT(Save(orders).error, HasSubstr("span 1 is damaged"));
  EXPECT_THAT(Finished(), ElementsAre());
}

TEST_F(StateSaverTest, WhatAKilledWorkerLeftIsReplaced) {
  files_.FailChangesAfter(3, absl::InternalError("power"));
  EXPECT_NE(Save(Orders(5)).error, "");
  files_.FailChangesAfter(0, absl::OkStatus());
  EXPECT_THAT(Finished(), ElementsAre());
  EXPECT_EQ(Save(Orders(6)).error, "");
  EXPECT_THAT(Finished(), ElementsAre(6));
  EXPECT_TRUE(blobs_.List("checkpoint-5")->empty());
}

TEST_F(StateSaverTest, OneThatIsThereAlreadyIsVerifiedAndCounts) {
  const std::string sha256 = Save(Orders(5)).sha256;
  StateSaver other(JobId(7), Fetch(), Write(), [] {});
  other.OnOrders(Orders(5), kElements);
  loop_.RunUntilIdle();
  EXPECT_EQ(other.outcome()->sha256, sha256);
}

TEST_F(StateSaverTest, TheSameSequenceOfAnotherHistoryDoesNotCount) {
  Save(Orders(5));
  Save(Orders(6));
  const size_t floats = pieces_[0].size() / sizeof(float);
  pieces_[0] = SharedBytes(std::make_shared<std::vector<float>>(floats, 3.0f));
  EXPECT_THAT(Save(Orders(5)).error, HasSubstr("with another state"));
  EXPECT_THAT(Finished(), ElementsAre(5, 6));
}

TEST_F(StateSaverTest, WhatAnotherHistoryLeftDoesNotPushOutTheNew) {
  for (const uint64_t sequence : {8, 9}) Save(Orders(sequence, 2));
  EXPECT_EQ(Save(Orders(5, 2)).error, "");
  EXPECT_THAT(Finished(), ElementsAre(5, 8, 9));
}

TEST_F(StateSaverTest, OldOnesGoButNotThePinned) {
  for (const uint64_t sequence : {1, 2, 3}) Save(Orders(sequence, 2));
  EXPECT_THAT(Finished(), ElementsAre(2, 3));
  JobOrders orders = Orders(4, 2);
  orders.checkpoint->pinned = {Sequence(2)};
  Save(orders);
  EXPECT_THAT(Finished(), ElementsAre(2, 3, 4));
  Save(Orders(5, 2));
  EXPECT_THAT(Finished(), ElementsAre(4, 5));
}

TEST_F(StateSaverTest, AnAnswerAfterItsEndIsIgnored) {
  {
    StateSaver gone(JobId(7), Fetch(), Write(), [] {});
    gone.OnOrders(Orders(5), kElements);
  }
  loop_.RunUntilIdle();
  EXPECT_THAT(Finished(), ElementsAre());
}

}  // namespace
}  // namespace skerry::worker
