#include "coordinator/core/rules/fit.h"

#include <string>
#include <utility>

#include "coordinator/core/testing/job_bench.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "job/checkpoint_owner.h"
#include "job/testing/specs.h"

namespace skerry::coordinator {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kGiB = uint64_t{1} << 30;
// The number that the job would get.
constexpr JobId kNumber(8);

// 309 billion parameters.
constexpr char kHugeConfig[] =
    R"({"model_type": "gpt2", "vocab_size": 256, "n_positions": 64, )"
    R"("n_embd": 16384, "n_layer": 96, "n_head": 128, "resid_pdrop": 0, )"
    R"("embd_pdrop": 0, "attn_pdrop": 0})";

class FitTest : public testing::Test {
 protected:
  // A worker that has said what its machine has.
  void Add(const std::string& name, const std::string& island, uint64_t memory,
           std::vector<job::DataFacts> data = {}, bool fetches_data = false) {
    bench_.AddWorker(name, island);
    StatusFacts status;
    status.self = {name, name + ":1", ""};
    status.island = island;
    status.machine.memory_bytes = memory;
    status.data = std::move(data);
    status.looks_at_data = true;
    status.fetches_data = fetches_data;
    bench_.workers.Heard(status, bench_.now);
  }
  static job::DataFacts Data(uint64_t tokens, char digest = 'a') {
    return {"/data/text", "", std::string(64, digest), 256, tokens, 0};
  }
  std::string Review() {
    auto reviewed = job::ReviewJobSpec(spec_);
    EXPECT_TRUE(reviewed.ok()) << reviewed.status();
    const absl::Status fit = ReviewFit(bench_.workers, kNumber, *reviewed);
    warnings_ = reviewed->warnings;
    return std::string(fit.message());
  }

  JobBench bench_;
  job::JobSpec spec_ = job::SmallJob("job", 100);
  std::vector<std::string> warnings_;
};

TEST_F(FitTest, AModelThatFitsNowhereIsRefusedWithBothNumbers) {
  spec_.model.config_json = kHugeConfig;
  EXPECT_EQ(Review(), "");  // nobody is there yet: it waits
  Add("w0", "a", 16 * kGiB);
  Add("w1", "b", 64 * kGiB);
  EXPECT_EQ(Review(),
            "model.config_json: describes 309263368192 parameters, which take "
            "at least 5760.5 GiB of memory on each worker, and the largest, "
            "w1, has 64.0 GiB; use a smaller model or larger machines");
  // Who does not tell its memory may have enough.
  Add("w2", "b", 0);
  EXPECT_EQ(Review(), "");
}

TEST_F(FitTest, OnlyTheJobsIslandsCount) {
  spec_.model.config_json = kHugeConfig;
  spec_.placement.islands = {"c"};
  Add("w0", "a", 16 * kGiB);
  EXPECT_EQ(Review(), "");
}

TEST_F(FitTest, AFolderWhereNobodyCanSaveIsRefused) {
  spec_.checkpoint = job::JobSpec::Checkpoints{"/saved", 2, 2};
  job::DataFacts folder;
  folder.path = "/saved";
  folder.save_error = "cannot write into /: Read-only file system";
  Add("w0", "a", 16 * kGiB, {Data(1000), folder});
  EXPECT_EQ(Review(),
            "checkpoint.directory: no worker can save there; worker w0 cannot "
            "save there: cannot write into /: Read-only file system");
  Add("w1", "b", 16 * kGiB, {Data(1000)});
  EXPECT_EQ(Review(), "");  // it has not looked yet
  EXPECT_EQ(DataPending(spec_, bench_.workers), 1u);
  folder.save_error = "";
  Add("w1", "b", 16 * kGiB, {Data(1000), folder});
  EXPECT_EQ(Review(), "");
  EXPECT_THAT(warnings_,
              ElementsAre(HasSubstr("checkpoint.directory: worker w0 cannot "
                                    "save there")));
  EXPECT_EQ(DataPending(spec_, bench_.workers), 0u);
}

TEST_F(FitTest, AFolderWithCheckpointsOfAnotherJobIsRefused) {
  spec_.checkpoint = job::JobSpec::Checkpoints{"/saved", 2, 2};
  job::DataFacts folder;
  folder.path = "/saved";
  // An earlier job of the same name has another number.
  for (const auto& [name, number] :
       {std::pair("bible", kNumber), std::pair("job", JobId(7))}) {
    folder.save_error = job::CheckpointOwnerText("/saved", name, number);
    Add("w0", "a", 16 * kGiB, {Data(1000), folder});
    EXPECT_EQ(Review(),
              "checkpoint.directory: no worker can save there; worker w0 "
              "cannot save there: " +
                  folder.save_error);
  }
  // One that has a folder of its own under that path can save.
  job::DataFacts empty;
  empty.path = "/saved";
  Add("w1", "b", 16 * kGiB, {Data(1000), empty});
  EXPECT_EQ(Review(), "");
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("of job job (number 7)")));
}

TEST_F(FitTest, AJobMaySaveToTheFolderThatHasItsOwnCheckpoints) {
  spec_.checkpoint = job::JobSpec::Checkpoints{"/saved", 2, 2};
  job::DataFacts folder;
  folder.path = "/saved";
  folder.save_error = job::CheckpointOwnerText("/saved", "job", kNumber);
  Add("w0", "a", 16 * kGiB, {Data(1000), folder});
  EXPECT_EQ(Review(), "");
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(FitTest, AWrongManifestIsRefusedWhenEveryWorkerHasIt) {
  Add("w0", "a", 16 * kGiB, {Data(1000, 'b')});
  EXPECT_THAT(Review(), HasSubstr("data.manifest_sha256: is aaaa"));
  EXPECT_THAT(Review(), HasSubstr("(so on worker w0)"));
  Add("w1", "b", 16 * kGiB, {Data(1000, 'b')});
  EXPECT_THAT(Review(), HasSubstr("(so on worker w0 and on every other)"));
  // One that has the right set can work.
  Add("w2", "c", 16 * kGiB, {Data(1000)});
  EXPECT_EQ(Review(), "");
  EXPECT_EQ(warnings_.size(), 2u);
  EXPECT_THAT(warnings_[0], HasSubstr("(so on worker w0)"));
}

TEST_F(FitTest, WorkersThatFetchTheSetFromAnotherAreFit) {
  job::DataFacts none;
  none.path = "/data/text";
  none.error = "cannot open /data/text/manifest.json";
  Add("w0", "a", 16 * kGiB, {none}, true);
  // Nobody has it: as before workers fetched.
  EXPECT_THAT(Review(), HasSubstr("data.path: cannot open"));
  // One of an older release gives nothing.
  Add("w1", "b", 16 * kGiB, {Data(1000)});
  EXPECT_EQ(Review(), "");
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("(so on worker w0)")));
  Add("w1", "b", 16 * kGiB, {Data(1000)}, true);
  Add("w2", "c", 16 * kGiB, {Data(1000, 'b')}, true);
  Add("w3", "c", 16 * kGiB, {none});
  EXPECT_EQ(Review(), "");
  EXPECT_THAT(
      warnings_,
      ElementsAre("data.path: 2 worker(s) have no such data set in /data/text "
                  "and will fetch it: w0, w2; it is on w1",
                  "data.path: cannot open /data/text/manifest.json (so on "
                  "worker w3)"));
}

TEST_F(FitTest, ASetShorterThanASampleIsRefused) {
  Add("w0", "a", 16 * kGiB, {Data(64)});
  EXPECT_EQ(Review(),
            "data.sequence_tokens: is 64, so one sample needs 65 tokens, and "
            "/data/text has 64 for training; lower it, or prepare more text "
            "(so on worker w0)");
}

TEST_F(FitTest, WhoHasNotLookedYetMayHaveTheSet) {
  Add("w0", "a", 16 * kGiB, {Data(64)});
  Add("w1", "b", 16 * kGiB);
  EXPECT_EQ(DataPending(spec_, bench_.workers), 1u);
  EXPECT_EQ(Review(), "");
  EXPECT_EQ(warnings_.size(), 1u);
}

TEST_F(FitTest, TooFewIslandsAreWarnedOfAsMoreMayCome) {
  spec_.exchange.min_replicas = 50;
  EXPECT_EQ(Review(), "");
  EXPECT_THAT(warnings_, IsEmpty());
  Add("w0", "a", 16 * kGiB);
  Add("w1", "b", 16 * kGiB);
  EXPECT_EQ(Review(), "");
  EXPECT_THAT(warnings_,
              ElementsAre(HasSubstr("exchange.min_replicas is 50, and workers "
                                    "of 2 island(s) may work on it")));
}

// The program opens its data by itself, and its memory is not known.
TEST_F(FitTest, OfAProgramOnlyItselfIsLookedFor) {
  spec_ = job::ProgramJob("job", 100);
  EXPECT_EQ(Review(), "");
  Add("w0", "a", kGiB);
  EXPECT_EQ(Review(),
            "model.program.name: no worker that is there allows the program "
            "resnet; start workers with --program resnet=FILE");
  bench_.AddWorker("w1", "b");
  StatusFacts status;
  status.self.worker = "w1";
  status.looks_at_data = true;
  status.programs = {{"resnet", std::string(64, 'a')}};
  bench_.workers.Heard(status, bench_.now);
  EXPECT_EQ(Review(), "");
  EXPECT_THAT(warnings_,
              ElementsAre(HasSubstr("worker w0: it does not allow")));
  EXPECT_EQ(DataPending(spec_, bench_.workers), 0u);
}

}  // namespace
}  // namespace skerry::coordinator
