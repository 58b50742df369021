// Small jobs at random with a real data set: the engine takes those that submit
// accepts, and no others.
#include "trainer/service/job_engine.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/executor.h"
#include "base/random.h"
#include "data/manifest.h"
#include "data/prepare/testing/prepare.h"
#include "gtest/gtest.h"
#include "job/convert/job_spec.h"
#include "job/data_facts.h"
#include "job/data_review.h"
#include "job/needs.h"
#include "job/review.h"
#include "model/spec/model_config.h"
#include "runtime/posix/posix_files.h"
#include "trainer/testing/random_jobs.h"

namespace skerry::trainer {
namespace {

constexpr int kEngines = 150;
constexpr int kDrawnMax = 40'000;

struct Count {
  int made = 0;
  int llamas = 0;
  int refused = 0;
};

class JobEngineTest : public ::testing::Test {
 protected:
  JobEngineTest() {
    std::string text;
    for (int i = 0; i < 300; ++i) absl::StrAppend(&text, "line ", i, "\n");
    EXPECT_TRUE(files_.MakeDirectory(folder_).ok());
    EXPECT_TRUE(
        files_
            .WriteDurably(folder_ + "/text.txt", std::as_bytes(std::span(text)))
            .ok());
    std::ostringstream err;
    EXPECT_TRUE(data::testing::Prepare({.inputs = {folder_ + "/text.txt"},
                                        .output_directory = folder_},
                                       {}, files_, err)
                    .ok());
    const auto manifest =
        files_.Read(folder_ + "/" + std::string(data::kManifestFile)).value();
    facts_ = job::DataFactsOf(
        folder_,
        {reinterpret_cast<const char*>(manifest.data()), manifest.size()});
  }

  // A job of Skerry's own engine with this data set.
  v1::JobSpec Draw(Random& random) const {
    v1::JobSpec spec = RandomJob(random);
    while (spec.model().has_program()) spec = RandomJob(random);
    spec.mutable_data()->set_path(folder_);
    spec.mutable_data()->set_manifest_sha256(facts_.manifest_sha256);
    return spec;
  }

  // Whether a model and its batches need no more than some 100 MB.
  static bool IsSmall(const job::JobSpec& spec) {
    const auto config = model::ParseModelConfig(spec.model.config_json);
    const uint64_t tokens = uint64_t{*spec.training.micro_batch_samples} *
                            *spec.data.sequence_tokens;
    return job::NeedsOf(spec).parameters <= 1 << 20 && tokens <= 1 << 13 &&
           tokens * static_cast<uint64_t>(config->vocab_size) <= 1 << 23;
  }

  // Makes the job's engine, and takes one step with it. Returns what keeps the
  // engine from that.
  absl::Status Train(const v1::JobSpec& job) {
    auto engine = MakeJobEngine(job, ShardCheck::kHeader, executor_, [] {});
    if (!engine.ok()) return engine.status();
    const auto ran = engine->trainer->Run(
        {.ranges = {{0, 2}}, .replica_batch_samples = 2}, [] { return false; });
    // Initial values of any size are accepted.
    if (absl::StrContains(ran.status().message(), "is not finite")) {
      return absl::OkStatus();
    }
    return ran.status();
  }

  Count Try(uint64_t seed) {
    Random random(seed);
    Count count;
    for (int i = 0; i < kDrawnMax && count.made < kEngines; ++i) {
      const auto reviewed =
          job::ReviewJobSpec(job::JobSpecFromProto(Draw(random)).value());
      if (!reviewed.ok() || !IsSmall(reviewed->spec)) continue;
      std::vector<std::string> warnings;
      job::SpecProblems problems;
      job::ReviewData(reviewed->spec, facts_, warnings, problems);
      v1::JobSpec filled;
      job::JobSpecToProto(reviewed->spec, &filled);
      const absl::Status trained = Train(filled);
      EXPECT_EQ(trained.ok(), problems.empty())
          << trained << problems.ToStatus() << filled.DebugString();
      ++(problems.empty() ? count.made : count.refused);
      if (problems.empty() &&
          absl::StrContains(filled.model().config_json(), "\"llama\"")) {
        ++count.llamas;
      }
    }
    return count;
  }

  // A folder of its own for every test.
  const std::string folder_ = absl::StrCat(
      ::testing::TempDir(), "/",
      ::testing::UnitTest::GetInstance()->current_test_info()->name());
  runtime::PosixFiles files_;
  InlineExecutor executor_;
  job::DataFacts facts_;
};

TEST_F(JobEngineTest, TrainsWhatSubmitAccepts) {
  const char* given = std::getenv("SKERRY_TEST_SEED");
  const uint64_t seed =
      given == nullptr ? 13 : std::strtoull(given, nullptr, 10);
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  const Count count = Try(seed);
  std::printf("%d engines made, %d of them of Llama models; %d refused\n",
              count.made, count.llamas, count.refused);
  EXPECT_EQ(count.made, kEngines);
  EXPECT_GT(count.llamas, kEngines / 5);
  EXPECT_GT(count.refused, 0);
}

}  // namespace
}  // namespace skerry::trainer
