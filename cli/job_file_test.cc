#include "cli/job_file.h"

#include <stdlib.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/sha256.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::cli {
namespace {

using testing::HasSubstr;

constexpr char kWhole[] = R"(name: small
model:
  config_file: config.json
  seed: 7
data:
  path: text
training:
  samples: 18446744073709551615
  batch_samples: 8
  learning_rate: 3e-4
  warmup_fraction: 0
outer:
  method: co2
  nesterov: false
exchange: {codec: bf16, carry: 0}
placement:
  islands: [a, "b"]
)";

class JobFileTest : public testing::Test {
 protected:
  JobFileTest() {
    std::string name = testing::TempDir() + "job-XXXXXX";
    folder_ = mkdtemp(name.data());
    Write("config.json", "{\"model_type\": \"gpt2\"}\n");
    std::filesystem::create_directory(folder_ + "/text");
    Write("text/manifest.json", kManifest);
  }
  ~JobFileTest() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << text;
  }
  absl::StatusOr<v1::JobSpec> Read(const std::string& text) {
    Write("job.yaml", text);
    return ReadJobFile(folder_ + "/job.yaml");
  }
  // The problems in `text`, without the folder's name.
  std::string Problems(const std::string& text) {
    const auto spec = Read(text);
    EXPECT_EQ(spec.status().code(), absl::StatusCode::kInvalidArgument);
    std::string said(spec.status().message());
    for (size_t at; (at = said.find(folder_ + "/")) != std::string::npos;) {
      said.erase(at, folder_.size() + 1);
    }
    return said;
  }

  static constexpr char kManifest[] = "{\"version\": 1}";
  std::string folder_;
};

TEST_F(JobFileTest, EveryKindOfFieldIsRead) {
  const auto spec = Read(kWhole);
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->name(), "small");
  EXPECT_EQ(spec->model().config_json(), "{\"model_type\": \"gpt2\"}\n");
  EXPECT_EQ(spec->model().seed(), 7u);
  EXPECT_EQ(spec->training().samples(), UINT64_MAX);
  EXPECT_EQ(spec->training().batch_samples(), 8u);
  EXPECT_DOUBLE_EQ(spec->training().learning_rate(), 3e-4);
  EXPECT_TRUE(spec->training().has_warmup_fraction());
  EXPECT_FALSE(spec->training().has_clip_norm());
  EXPECT_EQ(spec->outer().method(), v1::JobSpec::OUTER_METHOD_CO2);
  EXPECT_TRUE(spec->outer().has_nesterov());
  EXPECT_EQ(spec->exchange().codec(), "bf16");
  EXPECT_TRUE(spec->exchange().has_carry());
  EXPECT_THAT(spec->placement().islands(), testing::ElementsAre("a", "b"));
}

TEST_F(JobFileTest, TheDataFolderIsMadeAbsoluteAndItsManifestHashed) {
  const auto spec = Read(kWhole);
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->data().path(), folder_ + "/text");
  EXPECT_EQ(spec->data().manifest_sha256(),
            Sha256Hex(std::as_bytes(
                std::span(kManifest).first(sizeof(kManifest) - 1))));
}

TEST_F(JobFileTest, TheFolderOfCheckpointsIsMadeAbsolute) {
  const std::string whole(kWhole);
  const auto spec = Read(whole + "checkpoint: {directory: saved, every: 5}\n");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->checkpoint().directory(), folder_ + "/saved");
  EXPECT_EQ(spec->checkpoint().every(), 5u);
  EXPECT_FALSE(Read(whole)->has_checkpoint());
}

TEST_F(JobFileTest, AGivenHashNeedsNoFolderHere) {
  const auto spec =
      Read("data: {path: /nowhere/at/all, manifest_sha256: abc}\n");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->data().manifest_sha256(), "abc");
}

TEST_F(JobFileTest, AMissingManifestIsExplained) {
  EXPECT_THAT(Problems("data: {path: nothing}\n"),
              testing::AllOf(HasSubstr("nothing/manifest.json"),
                             HasSubstr("skerryctl data prepare")));
}

struct Refusal {
  const char* text;
  const char* problem;
};

class JobFileRefusalTest : public JobFileTest,
                           public testing::WithParamInterface<Refusal> {};

TEST_P(JobFileRefusalTest, NamesThePlaceAndTheField) {
  EXPECT_EQ(Problems(GetParam().text), GetParam().problem);
}

INSTANTIATE_TEST_SUITE_P(
    Refusals, JobFileRefusalTest,
    testing::Values(
        Refusal{"name: a\ntrainning: {tau: 3}\n",
                "job.yaml:2:1: there is no field trainning; did you mean "
                "training?"},
        Refusal{"training:\n  taus: 3\n",
                "job.yaml:2:3: training: there is no field taus; did you mean "
                "tau?"},
        Refusal{"training:\n  tau: -1\n",
                "job.yaml:2:8: training.tau: has to be a whole number >= 0, "
                "not -1"},
        Refusal{"training:\n  tau: 4294967296\n",
                "job.yaml:2:8: training.tau: has to be a whole number >= 0, "
                "not 4294967296"},
        Refusal{"training: {learning_rate: fast}\n",
                "job.yaml:1:27: training.learning_rate: has to be a number, "
                "not fast"},
        Refusal{"training: {learning_rate: .inf}\n",
                "job.yaml:1:27: training.learning_rate: has to be a number, "
                "not .inf"},
        Refusal{"outer:\n  nesterov: yes\n",
                "job.yaml:2:13: outer.nesterov: has to be true or false, not "
                "yes"},
        Refusal{"outer:\n  method: sgd\n",
                "job.yaml:2:11: outer.method: has to be one of local_sgd, "
                "diloco, co2, average_plus_local_delta, not sgd"},
        Refusal{"placement:\n  islands: a\n",
                "job.yaml:2:12: placement.islands: has to be a list"},
        Refusal{"name: a\nname: b\n",
                "job.yaml:2:1: field name is given twice"},
        Refusal{"name:\n", "job.yaml:1:1: name: has no value"},
        Refusal{"- a\n", "job.yaml:1:1: has to be a mapping of fields"},
        Refusal{"name: [a]\n", "job.yaml:1:7: name: has to be a single value"},
        Refusal{"model:\n  config_file: c.json\n",
                "job.yaml:2:16: model.config_file: cannot read c.json: No such "
                "file or directory"},
        Refusal{"model:\n  config_json: x\n  config_file: config.json\n",
                "job.yaml:3:16: model.config_file: given twice: config_json "
                "sets it too"},
        Refusal{"model:\n  config_file: config.json\n  config_json: x\n",
                "job.yaml:3:3: model.config_json: given twice: config_file "
                "sets it too"},
        Refusal{"name: a\n  b: [\n", "job.yaml:2:4: illegal map value"},
        Refusal{"name: a\n---\nname: b\n",
                "job.yaml: has to hold one YAML document, not 2"},
        // All problems at once.
        Refusal{"nam: a\ntraining:\n  tau: x\n",
                "job.yaml:1:1: there is no field nam; did you mean name?\n"
                "job.yaml:3:8: training.tau: has to be a whole number >= 0, "
                "not x"}));

TEST_F(JobFileTest, TenMistakesGiveTenPreciseMessages) {
  EXPECT_EQ(Problems("nam: small\n"
                     "model:\n"
                     "  config_file: missing.json\n"
                     "  seed: first\n"
                     "data:\n"
                     "  path: [a, b]\n"
                     "training:\n"
                     "  samples: -5\n"
                     "  learning_rate: fast\n"
                     "outer:\n"
                     "  method: co3\n"
                     "  nesterov: yes\n"
                     "exchange:\n"
                     "  codex: bf16\n"
                     "placement:\n"
                     "  islands: north\n"),
            "job.yaml:1:1: there is no field nam; did you mean name?\n"
            "job.yaml:3:16: model.config_file: cannot read missing.json: No "
            "such file or directory\n"
            "job.yaml:4:9: model.seed: has to be a whole number >= 0, not "
            "first\n"
            "job.yaml:6:9: data.path: has to be a single value\n"
            "job.yaml:8:12: training.samples: has to be a whole number >= 0, "
            "not -5\n"
            "job.yaml:9:18: training.learning_rate: has to be a number, not "
            "fast\n"
            "job.yaml:11:11: outer.method: has to be one of local_sgd, diloco, "
            "co2, average_plus_local_delta, not co3; did you mean co2?\n"
            "job.yaml:12:13: outer.nesterov: has to be true or false, not "
            "yes\n"
            "job.yaml:14:3: exchange: there is no field codex; did you mean "
            "codec?\n"
            "job.yaml:16:12: placement.islands: has to be a list");
}

TEST_F(JobFileTest, AliasBombsAreRefused) {
  std::string text = "placement:\n  islands: &a0 [x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 8; ++i) {
    text += absl::StrCat("z", i, ": &a", i, " [");
    for (int j = 0; j < 8; ++j) text += absl::StrCat("*a", i - 1, ", ");
    text += "]\n";
  }
  text += "name: *a7\n";
  EXPECT_FALSE(Read(text).ok());
}

TEST_F(JobFileTest, OversizedFilesAreRefused) {
  EXPECT_THAT(Problems("name: " + std::string(1 << 20, 'x')),
              HasSubstr("has more than 1048576 bytes"));
}

}  // namespace
}  // namespace skerry::cli
