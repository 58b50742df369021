#include "worker/daemon/inner_fetch.h"

#include <span>
#include <string>

#include "absl/strings/str_cat.h"
#include "checkpoint/checkpoint_store.h"
#include "checkpoint/starting_point.h"
#include "gtest/gtest.h"
#include "runtime/directory_blob_store.h"
#include "runtime/testing/memory_files.h"

namespace skerry::worker {
namespace {

using protocol::JobOrders;

class InnerFetchTest : public testing::Test {
 protected:
  InnerFetchTest() {
    orders_.job = JobId(3);
    orders_.phase = protocol::JobPhase::kRunning;
    orders_.spec.name = "bible";
  }
  void StartFrom(job::Samples samples) {
    job::JobSpec::Checkpoint from;
    from.path = "/store";
    from.name = "checkpoint-5";
    from.sha256 = std::string(64, 'a');
    from.samples = samples;
    orders_.spec.model.checkpoint = from;
  }
  void SaveTo(const std::string& folder) {
    orders_.spec.checkpoint.emplace().directory = folder;
  }
  void Reached(uint64_t sequence) {
    orders_.fragments.assign(1, {});
    orders_.fragments[0].newest = Sequence(sequence);
  }
  void WentBack(uint64_t sequence, uint64_t checkpoint) {
    orders_.restored =
        protocol::RestoredState{Sequence(sequence), Sequence(checkpoint),
                                checkpoint > 0 ? std::string(64, 'b') : ""};
  }
  std::optional<InnerSource> Find(bool reads_base) {
    return FindInnerSource(orders_, JobStart(orders_), reads_base);
  }
  // A checkpoint with an inner state whose text names it, or without.
  void Save(uint64_t sequence, bool has_inner, uint64_t job = 3) {
    checkpoint::Manifest about{.job = "bible",
                               .job_id = job,
                               .sequence = sequence,
                               .samples = sequence,
                               .files = {}};
    runtime::DirectoryBlobStore blobs(absl::StrCat("/store"), files_);
    auto writer = checkpoint::CheckpointStore(blobs).Begin(about);
    ASSERT_TRUE(writer.ok()) << writer.status();
    ASSERT_TRUE(
        writer->Add("config.json", std::as_bytes(std::span("{}", 2))).ok());
    const std::string inner = absl::StrCat("inner ", sequence);
    if (has_inner) {
      ASSERT_TRUE(
          writer->Add("inner.safetensors", std::as_bytes(std::span(inner)))
              .ok());
    }
    ASSERT_TRUE(writer->Seal().ok());
  }
  // What is fetched, or why nothing is.
  std::string Fetched() {
    const absl::Status status = FetchInner(Find(false).value_or(InnerSource()),
                                           "/inner", places_, files_);
    if (!status.ok()) return std::string(status.message());
    const auto bytes = files_.Read("/inner");
    return std::string(reinterpret_cast<const char*>(bytes->data()),
                       bytes->size());
  }

  JobOrders orders_;
  runtime::MemoryFiles files_;
  runtime::Folders places_{files_};
};

TEST_F(InnerFetchTest, AJobOfItsOwnBeginsWithout) {
  EXPECT_FALSE(Find(false).has_value());
  SaveTo("/store");
  EXPECT_FALSE(Find(false).has_value()) << "it is at its beginning";
}

TEST_F(InnerFetchTest, OneThatGoesOnTakesThatOfItsCheckpoint) {
  StartFrom(job::Samples::kGoOn);
  const auto from = Find(true);
  ASSERT_TRUE(from.has_value());
  EXPECT_EQ(from->place, "/store");
  EXPECT_EQ(from->name, "checkpoint-5");
  EXPECT_EQ(from->sha256, std::string(64, 'a'));
}

TEST_F(InnerFetchTest, OneThatTakesTheWeightsAloneBeginsWithout) {
  StartFrom(job::Samples::kAnew);
  EXPECT_FALSE(Find(true).has_value());
}

TEST_F(InnerFetchTest, OneThatWentBackTakesThatOfTheCheckpoint) {
  StartFrom(job::Samples::kAnew);
  SaveTo("/saved");
  WentBack(9, 4);
  const auto from = Find(true);
  ASSERT_TRUE(from.has_value());
  EXPECT_EQ(from->place, "/saved");
  EXPECT_EQ(from->name, "checkpoint-4");
  EXPECT_EQ(from->sha256, std::string(64, 'b'));
  // To its beginning, which is a checkpoint that was taken for its weights.
  WentBack(9, 0);
  EXPECT_FALSE(Find(true).has_value());
}

TEST_F(InnerFetchTest, OneThatIsOverTrainsNoMore) {
  StartFrom(job::Samples::kGoOn);
  orders_.phase = protocol::JobPhase::kSucceeded;
  EXPECT_FALSE(Find(true).has_value());
}

TEST_F(InnerFetchTest, AJoinerTakesThatOfTheNewestCheckpointWithOne) {
  SaveTo("/store");
  Reached(30);
  EXPECT_EQ(Fetched(),
            "this worker has saved none, and no checkpoint of the job has one");
  Save(10, true);
  Save(20, true);
  Save(25, false);
  EXPECT_EQ(Fetched(), "inner 20");
}

TEST_F(InnerFetchTest, AJoinerTakesNoneOfAHistoryThatIsGone) {
  SaveTo("/store");
  Save(10, true);
  Save(20, true);
  WentBack(26, 10);
  Reached(30);
  EXPECT_EQ(Fetched(), "inner 10");
  Save(28, true);
  EXPECT_EQ(Fetched(), "inner 28");
  orders_.job = JobId(4);
  EXPECT_NE(Fetched().find("no checkpoint of the job"), std::string::npos);
}

}  // namespace
}  // namespace skerry::worker
