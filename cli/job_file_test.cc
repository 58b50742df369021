#include "cli/job_file.h"

#include <stdlib.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/sha256.h"
#include "compression/codec.h"
#include "data/manifest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::cli {
namespace {

using testing::HasSubstr;

// A model with a context of 64 and 256 tokens.
constexpr char kConfig[] =
    R"({"model_type": "gpt2", "vocab_size": 256, "n_positions": 64, )"
    R"("n_embd": 48, "n_layer": 2, "n_head": 4, "resid_pdrop": 0, )"
    R"("embd_pdrop": 0, "attn_pdrop": 0})";

constexpr char kWhole[] = R"(name: small
model:
  config_file: config.json
  seed: 7
data:
  path: text
training:
  samples: 281474976710656
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
    Write("config.json", kConfig);
    data::Manifest manifest;
    manifest.tokenizer = "bytes";
    manifest.vocab_size = 256;
    manifest.shards = {{"a", 1000, std::string(64, 'a'), data::Split::kTrain}};
    manifest_ = data::SerializeManifest(manifest);
    for (const char* folder : {"text", "data"}) {
      std::filesystem::create_directory(folder_ + "/" + folder);
      Write(std::string(folder) + "/manifest.json", manifest_);
    }
  }
  ~JobFileTest() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << text;
  }
  absl::StatusOr<v1::JobSpec> Read(const std::string& text) {
    Write("job.yaml", text);
    return ReadNamed("job.yaml");
  }
  absl::StatusOr<v1::JobSpec> ReadNamed(const std::string& name) {
    absl::StatusOr<JobFile> file = ReadJobFile(folder_ + "/" + name);
    if (!file.ok()) return file.status();
    return file->spec;
  }
  // The problems in `text`, without the folder's name.
  std::string Problems(const std::string& text) { return Said(Read(text)); }
  std::string Said(const absl::StatusOr<v1::JobSpec>& spec) const {
    EXPECT_EQ(spec.status().code(), absl::StatusCode::kInvalidArgument);
    std::string said(spec.status().message());
    for (size_t at; (at = said.find(folder_ + "/")) != std::string::npos;) {
      said.erase(at, folder_.size() + 1);
    }
    return said;
  }

  std::string manifest_;
  std::string folder_;
};

TEST_F(JobFileTest, EveryKindOfFieldIsRead) {
  const auto spec = Read(kWhole);
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->name(), "small");
  EXPECT_EQ(spec->model().config_json(), kConfig);
  EXPECT_EQ(spec->model().seed(), 7u);
  EXPECT_EQ(spec->training().samples(), uint64_t{1} << 48);
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
            Sha256Hex(std::as_bytes(std::span(manifest_))));
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
  const std::string hash(64, 'b');
  const auto spec = Read(absl::StrReplaceAll(kWhole, {{"path: text",
                                                       "path: /nowhere/at/all\n"
                                                       "  manifest_sha256: " +
                                                           hash}}));
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->data().manifest_sha256(), hash);
}

TEST_F(JobFileTest, AMissingManifestIsExplainedWithItsPlace) {
  EXPECT_EQ(
      Problems(absl::StrReplaceAll(kWhole, {{"path: text", "path: nothing"}})),
      "job.yaml:6:9: data.path: cannot read nothing/manifest.json: No such "
      "file or directory; make it with skerryctl data prepare, or set "
      "data.manifest_sha256 when the folder is only on the workers");
}

TEST_F(JobFileTest, ATildeIsTheHomeFolderAndAloneItIsNothing) {
  setenv("HOME", folder_.c_str(), 1);
  const auto spec =
      Read(absl::StrReplaceAll(kWhole, {{"config_file: c", "config_file: ~/c"},
                                        {": text", ": ~/text"}}));
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->data().path(), folder_ + "/text");
  EXPECT_EQ(spec->model().config_json(), kConfig);
  EXPECT_EQ(
      Problems(absl::StrReplaceAll(kWhole, {{"path: text", "path: ~"}})),
      "job.yaml:6:9: data.path: has no value: ~ alone means nothing in YAML; "
      "write the home folder as ~/, or leave the line out");
  EXPECT_EQ(
      Problems(absl::StrReplaceAll(kWhole, {{"path: text", "path: ~bob/x"}})),
      "job.yaml:6:9: data.path: is ~bob/x, whose home folder is not known; "
      "write it in full");
}

TEST_F(JobFileTest, NumbersAreTakenInEveryClearForm) {
  const auto spec = Read(absl::StrReplaceAll(
      kWhole, {{"samples: 281474976710656", "samples: 1e6"},
               {"batch_samples: 8", "batch_samples: 1_024"},
               {"seed: 7", "seed: 8.0"},
               {"learning_rate: 3e-4", "learning_rate: 1_0e-4"}}));
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->training().samples(), 1'000'000u);
  EXPECT_EQ(spec->training().batch_samples(), 1024u);
  EXPECT_EQ(spec->model().seed(), 8u);
  EXPECT_DOUBLE_EQ(spec->training().learning_rate(), 1e-3);
}

// What is wrong with the form and with values, at once.
TEST_F(JobFileTest, ProblemsOfTheFormAndOfValuesComeTogether) {
  EXPECT_EQ(
      Problems(
          absl::StrReplaceAll(kWhole, {{"name: small", "name: -f"},
                                       {"seed: 7", "seed: 010"},
                                       {"batch_samples: 8", "batch_samples: 0"},
                                       {"method: co2", "methud: co2"},
                                       {"carry: 0", "carry: 65"}})),
      "job.yaml:1:7: name: has to begin with a letter or a digit, not "
      "\"-f\": commands take a dash for an option\n"
      "job.yaml:4:9: model.seed: has to be a whole number >= 0, not 010; "
      "some readers take a leading zero for octal: write 10, or 8 if "
      "octal is meant\n"
      "job.yaml:9:18: training.batch_samples: is 0 or left out; it is what "
      "a worker draws for one inner step: write 1 to 1048576\n"
      "job.yaml:13:3: outer: there is no field methud; did you mean "
      "method?\n"
      "job.yaml:15:32: exchange.carry: has to be 0 to 64, not 65; it "
      "counts sequences");
}

constexpr char kProgram[] = R"(name: vision
model:
  program:
    name: resnet
    parameters:
      width: 64
      rate: 0.1
      norm: "8"
      stages: [3, 4, {wide: true}]
      warm: null
      optimizer: adam
  seed: 1
data: {id: imagenet, samples: 1_281_167, seed: 1}
training:
  samples: 1e6
  batch_samples: 8
outer: {method: co2}
)";

TEST_F(JobFileTest, TheParametersOfAProgramBecomeJson) {
  const auto spec = Read(kProgram);
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->model().program().name(), "resnet");
  EXPECT_EQ(spec->model().program().parameters_json(),
            R"({"norm":"8","optimizer":"adam","rate":0.1,)"
            R"("stages":[3,4,{"wide":true}],"warm":null,"width":64})");
  EXPECT_EQ(spec->data().id(), "imagenet");
  EXPECT_EQ(spec->data().samples(), 1'281'167u);
  EXPECT_EQ(spec->data().path(), "");
}

// What `get job NAME -o yaml` prints under `spec`.
TEST_F(JobFileTest, TheSpecOfAProgramJobIsAJobFile) {
  const auto spec = Read(R"(name: vision
model:
  config_json: ""
  seed: "1"
  program: {name: resnet, parameters_json: '{"width":64}', sha256: ""}
data: {path: "", manifest_sha256: "", seed: "0", id: ""}
training:
  samples: "1000"
  batch_samples: 8
  optimizer: INNER_OPTIMIZER_UNSPECIFIED
  schedule: SCHEDULE_UNSPECIFIED
  recompute: false
  compute: COMPUTE_UNSPECIFIED
outer: {method: OUTER_METHOD_CO2}
)");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->model().program().parameters_json(), R"({"width":64})");
}

TEST_F(JobFileTest, WhatAProgramDecidesIsRefusedWithItsPlace) {
  EXPECT_EQ(
      Problems(absl::StrReplaceAll(kProgram,
                                   {{"batch_samples: 8",
                                     "batch_samples: 8\n  learning_rate: 0.1\n"
                                     "  optimizer: muon"},
                                    {"seed: 1}", "seed: 1, path: text}"}})),
      "job.yaml:13:57: data.path: is not for jobs with model.program, which "
      "opens its data by itself; leave it out, and name the data in data.id\n"
      "job.yaml:17:18: training.learning_rate: is for the program to decide; "
      "leave it out, and pass it to the program in model.program.parameters\n"
      "job.yaml:18:14: training.optimizer: is for the program to decide; "
      "leave it out, and pass it to the program in model.program.parameters");
}

TEST_F(JobFileTest, ParametersThatAreNoJsonAreRefusedWithTheirPlace) {
  EXPECT_EQ(
      Problems(absl::StrReplaceAll(
          kProgram, {{"width: 64", "width: 010"},
                     {"rate: 0.1", "rate: .inf"},
                     {"warm: null", "width: 3"},
                     {"optimizer: adam", "optimizer: !x adam"}})),
      "job.yaml:6:14: model.program.parameters.width: has to be a whole "
      "number, not 010; some readers take a leading zero for octal: write 10, "
      "or 8 if octal is meant; put it in quotes if it is text\n"
      "job.yaml:7:13: model.program.parameters.rate: is .inf, which JSON does "
      "not have; put it in quotes if it is text\n"
      "job.yaml:10:7: model.program.parameters: width is given twice\n"
      "job.yaml:11:18: model.program.parameters.optimizer: has the tag !x; "
      "leave the tag out");
  EXPECT_EQ(
      Problems(absl::StrReplaceAll(
          kProgram, {{"warm: null", "warm: " + std::string(64 * 1024, 'x')}})),
      "job.yaml:5:5: model.program.parameters_json: has 65628 "
      "bytes, at most 65536 are allowed");
  EXPECT_EQ(Problems("model: {program: {parameters: [1]}}\n"),
            "job.yaml:1:31: model.program.parameters: has to be a mapping");
}

// A file of cli/testdata/jobs, and what is said of it.
struct BadFile {
  const char* name;
  const char* problems;
};

class BadJobFileTest : public JobFileTest,
                       public testing::WithParamInterface<BadFile> {
 protected:
  BadJobFileTest() {
    for (const auto& entry :
         std::filesystem::directory_iterator("cli/testdata/jobs")) {
      std::filesystem::copy_file(
          entry.path(), folder_ + "/" + entry.path().filename().string(),
          std::filesystem::copy_options::overwrite_existing);
    }
  }
};

TEST_P(BadJobFileTest, IsRefusedWithThisMessage) {
  const std::string unknown(
      compression::ParseCodecName("int9").status().message());
  EXPECT_EQ(
      Said(ReadNamed(GetParam().name)),
      absl::StrReplaceAll(GetParam().problems, {{"{unknown codec}", unknown}}));
}

INSTANTIATE_TEST_SUITE_P(
    Files, BadJobFileTest,
    testing::Values(
        BadFile{"bad_cfgnone.yaml",
                "bad_cfgnone.yaml:2:1: model.config_json: is not set; give the "
                "model's config.json, in a job file with model.config_file"},
        BadFile{"bad_dashname.yaml",
                "bad_dashname.yaml:1:7: name: has to begin with a letter or a "
                "digit, not \"-f\": commands take a dash for an option"},
        BadFile{"bad_deep.yaml",
                "bad_deep.yaml:1:68: nested more than 64 levels deep"},
        BadFile{"bad_frag0.yaml",
                "bad_frag0.yaml:15:14: exchange.fragments: has to be 1 to 64, "
                "not 0"},
        BadFile{"bad_lr0.yaml",
                "bad_lr0.yaml:11:18: training.learning_rate: has to be in (0, "
                "10] as fp32, not 0"},
        BadFile{
            "bad_multi.yaml",
            "bad_multi.yaml:1:7: name: has to be 1 to 63 lower-case "
            "letters, digits and dashes, not \"Bad Name\"\n"
            "bad_multi.yaml:9:18: training.batch_samples: is 0 or left out; it "
            "is "
            "what a worker draws for one inner step: write 1 to 1048576\n"
            "bad_multi.yaml:11:10: training.beta1: has to be in (0, 1) as "
            "fp32, not 5\n"
            "bad_multi.yaml:15:10: exchange.codec: {unknown codec}, adaptive, "
            "or ada_top_k/N likewise"},
        BadFile{"bad_nul.yaml",
                "bad_nul.yaml:1:9: a byte of value 0, which no text has; is it "
                "a text file?"},
        BadFile{"bad_smallvocab.yaml",
                "bad_smallvocab.yaml:3:16: model.config_json: has a vocab_size "
                "of 100, and the tokens of data reach to 256; prepare the data "
                "with the model's tokenizer"},
        BadFile{"bad_tab.yaml",
                "bad_tab.yaml:8:1: a tab indents this line; YAML takes spaces "
                "only"},
        BadFile{"bad_zerotau.yaml",
                "bad_zerotau.yaml:10:8: training.tau: has to be 1 to 1048576, "
                "not 0; it is the number of inner steps in a round"}),
    [](const testing::TestParamInfo<BadFile>& info) {
      return std::string(info.param.name)
          .substr(4, std::string(info.param.name).size() - 9);
    });

// Only workers know what is wrong with these (fit_test.cc of the coordinator).
TEST_F(JobFileTest, WhatOnlyWorkersKnowIsLeftToThem) {
  for (const char* name :
       {"bad_bigmodel.yaml", "bad_hash.yaml", "bad_minrep.yaml"}) {
    for (const auto& entry :
         std::filesystem::directory_iterator("cli/testdata/jobs")) {
      std::filesystem::copy_file(
          entry.path(), folder_ + "/" + entry.path().filename().string(),
          std::filesystem::copy_options::overwrite_existing);
    }
    EXPECT_TRUE(ReadNamed(name).ok()) << ReadNamed(name).status();
  }
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
                "job.yaml:2:8: training.tau: has to be at most 4294967295, "
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
                "diloco, co2, average_plus_local_delta, late, dasgd, not sgd; "
                "did you mean dasgd?"},
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
                "job.yaml:2:16: model.config_json: config.json: is not a JSON "
                "object\n"
                "job.yaml:3:16: model.config_file: given twice: config_json "
                "sets it too"},
        Refusal{"model:\n  config_file: config.json\n  config_json: x\n",
                "job.yaml:3:3: model.config_json: given twice: config_file "
                "sets it too"},
        Refusal{"name: a\n  b: [\n",
                "job.yaml:2:4: a value begins where none can; is this line "
                "indented as its neighbours are, and is a text with a colon in "
                "quotes?"},
        Refusal{"name: a\n---\nname: b\n",
                "job.yaml: has to hold one YAML document, not 2"},
        // All problems at once.
        Refusal{"nam: a\ntraining:\n  tau: x\n",
                "job.yaml:1:1: there is no field nam; did you mean name?\n"
                "job.yaml:3:8: training.tau: has to be a whole number >= 0, "
                "not x"}));

TEST_F(JobFileTest, TenMistakesGiveTenPreciseMessages) {
  EXPECT_EQ(
      Problems("nam: small\n"
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
      "job.yaml:4:9: model.seed: has to be a whole number >= 0, not first\n"
      "job.yaml:6:9: data.path: has to be a single value\n"
      "job.yaml:8:12: training.samples: has to be a whole number >= 0, "
      "not -5\n"
      "job.yaml:9:18: training.learning_rate: has to be a number, not fast\n"
      "job.yaml:11:11: outer.method: has to be one of local_sgd, diloco, "
      "co2, average_plus_local_delta, late, dasgd, not co3; did you mean "
      "co2?\n"
      "job.yaml:12:13: outer.nesterov: has to be true or false, not yes\n"
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
