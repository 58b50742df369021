// The program as scripts see it: standard output and exit code.
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "coordinator/service/testing/coordinator_process.h"
#include "coordinator/service/testing/memory_journal.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "job/testing/specs.h"

namespace skerry::cli {
namespace {

using coordinator::CoordinatorProcess;
using coordinator::MemoryDisk;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

struct Ran {
  std::string out;
  std::string err;
  int code = -1;
};

std::string TextOf(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

class SkerryctlTest : public testing::Test {
 protected:
  SkerryctlTest() {
    process_.emplace(disk_);
    EXPECT_TRUE(process_->started().ok()) << process_->started();
    address_ = process_->address();
    std::string name = testing::TempDir() + "skerryctl-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~SkerryctlTest() override { std::filesystem::remove_all(folder_); }

  Ran Run(const std::string& words) {
    return RunIn(absl::StrCat("SKERRY_COORDINATOR=", address_, " "), words);
  }
  // With `before` in front of the program's name.
  Ran RunIn(const std::string& before, const std::string& words) {
    const std::string err = folder_ + "/err";
    const std::string line =
        absl::StrCat(before, "cli/skerryctl ", words, " 2>", err);
    Ran ran;
    FILE* pipe = popen(line.c_str(), "r");
    char buffer[4096];
    for (size_t count; (count = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) {
      ran.out.append(buffer, count);
    }
    ran.code = WEXITSTATUS(pclose(pipe));
    ran.err = TextOf(err);
    return ran;
  }
  // The name of a file with a job called `name`.
  std::string JobFile(const std::string& name, const std::string& more = "") {
    const std::string path = absl::StrCat(folder_, "/", name, ".yaml");
    std::ofstream(path) << "name: " << name << R"(
model: {config_json: ')" << job::kTinyConfig
                        << R"('}
data: {path: /data/text, manifest_sha256: )"
                        << std::string(64, 'a') << R"(}
training: {samples: 1000, batch_samples: 4}
outer: {method: diloco}
)" << more;
    return path;
  }

  // With a model that a trainer could build.
  std::string ModelJobFile() {
    const std::string path = folder_ + "/model.yaml";
    std::ofstream(path) << R"(
name: model
model:
  config_json: '{"model_type": "gpt2", "n_positions": 32, "n_embd": 32,
    "n_layer": 1, "n_head": 2, "vocab_size": 256, "resid_pdrop": 0,
    "embd_pdrop": 0, "attn_pdrop": 0}'
data: {path: /data/text, manifest_sha256: )"
                        << std::string(64, 'a') << R"(}
training: {samples: 960, batch_samples: 4}
outer: {method: diloco}
)";
    return path;
  }

  MemoryDisk disk_;
  std::optional<CoordinatorProcess> process_;
  std::string address_;
  std::string folder_;
};

TEST_F(SkerryctlTest, DataGoesToOutputAndHintsToError) {
  const Ran submitted = Run("submit -f " + JobFile("one"));
  EXPECT_EQ(submitted.code, 0) << submitted.err;
  EXPECT_EQ(submitted.out, "one\n");
  EXPECT_THAT(submitted.err, HasSubstr("skerryctl watch job one"));
  EXPECT_THAT(Run("get jobs").out, HasSubstr("\none "));
  EXPECT_THAT(Run("get job one -o json").out, StartsWith("{\n \"id\": \"1\""));
  EXPECT_THAT(Run("describe job one").out, StartsWith("Name:"));
  EXPECT_THAT(Run("get workers").out, StartsWith("NAME"));
  EXPECT_THAT(Run("get islands -o json").out, HasSubstr("\"islands\": []"));
  EXPECT_THAT(Run("audit data one").out, HasSubstr("[0, 1000)"));
  EXPECT_THAT(Run("logs one").out, HasSubstr("JobSubmitted"));
  EXPECT_THAT(Run("version").out, HasSubstr("coordinator"));
}

TEST_F(SkerryctlTest, SimulateNeedsNoCoordinator) {
  const std::string cluster = folder_ + "/cluster.yaml";
  std::ofstream(cluster) << "islands: [{name: a, samples_per_s: 100}]\n";
  const std::string words =
      absl::StrCat("simulate -f ", ModelJobFile(), " --cluster ", cluster);
  const Ran ran = RunIn("SKERRY_COORDINATOR=127.0.0.1:1 ", words + " -o yaml");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, StartsWith("plans:\n"));
  EXPECT_EQ(ran.err, "plan 1 of 1: tau 12, int8_block, diloco, 1 island\n");
  EXPECT_THAT(Run(words + " --tau 6,12 --rounds 4").out, HasSubstr("\n*"));
  // Where the seed of the repeat is the same, so is every byte.
  EXPECT_EQ(Run(words + " --preempt-every 10s --away 2s -o json").out,
            Run(words + " --preempt-every 10s --away 2s -o json").out);
}

TEST_F(SkerryctlTest, AWrongClusterFileGivesSeven) {
  const std::string cluster = folder_ + "/cluster.yaml";
  std::ofstream(cluster) << "islands: [{name: a, speed: 100}]\n";
  const Ran ran =
      Run(absl::StrCat("simulate -f ", ModelJobFile(), " --cluster ", cluster));
  EXPECT_EQ(ran.code, 7);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err,
              HasSubstr("cluster.yaml:1:21: islands[0]: there is no field"));
  EXPECT_EQ(Run("simulate -f " + ModelJobFile()).code, 2);
  EXPECT_EQ(Run("simulate --tau many -f x --cluster y").code, 2);
  EXPECT_EQ(Run("simulate -f x --cluster y --away 5m").code, 2);
}

TEST_F(SkerryctlTest, WrongLinesGiveTwo) {
  EXPECT_EQ(Run("get jobs -o xml").code, 2);
  EXPECT_EQ(Run("--coordinator 10.0.0.1:1 get jobs").code, 2);
}

TEST_F(SkerryctlTest, AMissingJobGivesThree) {
  const Ran ran = Run("get job nobody");
  EXPECT_EQ(ran.code, 3);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err,
            "skerryctl: no job named nobody; "
            "skerryctl get jobs lists them\n");
  EXPECT_EQ(Run("watch job nobody").code, 3);
  EXPECT_EQ(Run("logs nobody -f").code, 3);
}

TEST_F(SkerryctlTest, ATakenNameGivesFour) {
  EXPECT_EQ(Run("submit -f " + JobFile("one")).code, 0);
  EXPECT_EQ(Run("submit -f " + JobFile("one")).code, 4);
}

TEST_F(SkerryctlTest, AnAddressThatNobodyServesGivesSix) {
  process_.reset();
  const Ran ran = Run("get jobs");
  EXPECT_EQ(ran.code, 6);
  EXPECT_THAT(ran.err, HasSubstr(address_));
}

TEST_F(SkerryctlTest, AWrongJobGivesSevenWhoeverFindsIt) {
  const Ran here = Run("submit -f " + JobFile("one", "trainning: {}\n"));
  EXPECT_EQ(here.code, 7);
  EXPECT_THAT(here.err, HasSubstr("one.yaml:6:1: there is no field trainning"));
  const Ran there =
      Run("submit -f " + JobFile("one", "exchange: {quorum: 7}\n"));
  EXPECT_EQ(there.code, 7);
  EXPECT_THAT(there.err, HasSubstr("exchange.quorum"));
  EXPECT_EQ(Run("submit -f " + folder_ + "/nothing.yaml").code, 7);
}

TEST_F(SkerryctlTest, WatchingACancelledJobGivesNine) {
  ASSERT_EQ(Run("submit -f " + JobFile("one")).code, 0);
  EXPECT_EQ(Run("cancel one").out, "one cancelled\n");
  const Ran watched = Run("watch job one");
  EXPECT_EQ(watched.code, 9);
  EXPECT_THAT(watched.out, StartsWith("cancelled"));
  EXPECT_EQ(Run("logs one -f").code, 0);
  EXPECT_THAT(Run("watch job one -o json").out, EndsWith("}\n"));
}

TEST_F(SkerryctlTest, GeneratingWithoutAModelGivesFour) {
  ASSERT_EQ(Run("submit -f " + JobFile("one")).code, 0);
  EXPECT_EQ(Run("generate one --prompt x").code, 4);
}

TEST_F(SkerryctlTest, ACheckpointOfNothingGivesFourAndLeavesNothing) {
  const std::string store = folder_ + "/store";
  EXPECT_EQ(Run("checkpoint create nobody --to " + store).code, 3);
  ASSERT_EQ(Run("submit -f " + JobFile("one")).code, 0);
  const Ran ran = Run("checkpoint create one --to " + store);
  EXPECT_EQ(ran.code, 4);
  EXPECT_THAT(ran.err, HasSubstr("no sequence of job one has all its spans"));
  EXPECT_FALSE(std::filesystem::exists(store));
  EXPECT_EQ(Run("checkpoint verify " + store).code, 3);
  const Ran list = Run("checkpoint list " + store);
  EXPECT_EQ(list.code, 3);
  EXPECT_THAT(list.err, HasSubstr("store: cannot open"));
}

TEST_F(SkerryctlTest, AJobIsWaitedFor) {
  ASSERT_EQ(Run("submit -f " + JobFile("one")).code, 0);
  EXPECT_EQ(Run("wait job one --for pending").out, "one pending\n");
  const Ran late = Run("wait job one --for running --timeout 0.5");
  EXPECT_EQ(late.code, 124);
  EXPECT_THAT(late.err, HasSubstr("job one is pending"));
  ASSERT_EQ(Run("cancel one").code, 0);
  EXPECT_EQ(Run("wait job one --for ended").code, 0);
  EXPECT_EQ(Run("wait job one --for cancelled -o json").code, 0);
  const Ran never = Run("wait job one --for succeeded --timeout 1m");
  EXPECT_EQ(never.code, 9);
  EXPECT_EQ(never.out, "");
  EXPECT_THAT(never.err, HasSubstr("it cannot become succeeded"));
  EXPECT_EQ(Run("wait job nobody --for ended").code, 3);
  EXPECT_EQ(Run("wait worker nobody --for drained").code, 3);
}

TEST_F(SkerryctlTest, AJobIsPausedAndGoesOn) {
  ASSERT_EQ(Run("submit -f " + JobFile("one")).code, 0);
  const Ran paused = Run("pause one");
  EXPECT_EQ(paused.out, "one paused\n");
  EXPECT_THAT(paused.err, HasSubstr("skerryctl resume one"));
  EXPECT_THAT(Run("get jobs").out, HasSubstr(" paused "));
  EXPECT_EQ(Run("resume one -o name").out, "one\n");
  EXPECT_THAT(Run("events one --name JobPaused,JobResumed").out,
              testing::AllOf(HasSubstr("JobPaused"), HasSubstr("JobResumed")));
  ASSERT_EQ(Run("cancel one").code, 0);
  EXPECT_EQ(Run("pause one").code, 4);
  EXPECT_EQ(Run("resume nobody").code, 3);
}

TEST_F(SkerryctlTest, IntentsOfWorkersThatAreNotThereGiveThree) {
  for (const char* verb : {"cordon", "uncordon", "drain"}) {
    const Ran ran = Run(absl::StrCat(verb, " nobody"));
    EXPECT_EQ(ran.code, 3) << verb;
    EXPECT_EQ(ran.err,
              "skerryctl: no worker named nobody; "
              "skerryctl get workers lists them\n");
  }
}

TEST_F(SkerryctlTest, APlanIsPrintedAndNothingIsSubmitted) {
  std::ofstream(folder_ + "/config.json") << R"({"model_type": "gpt2",
    "n_positions": 64, "n_embd": 32, "n_layer": 2, "n_head": 2,
    "vocab_size": 256, "resid_pdrop": 0.0, "embd_pdrop": 0.0,
    "attn_pdrop": 0.0})";
  const std::string path = folder_ + "/planned.yaml";
  std::ofstream(path) << "name: planned\nmodel: {config_file: config.json}\n"
                      << "data: {path: /data/text, manifest_sha256: "
                      << std::string(64, 'a')
                      << "}\ntraining: {samples: 1000, batch_samples: 4}\n"
                      << "outer: {method: diloco}\n";
  const Ran plan = Run("plan -f " + path);
  EXPECT_EQ(plan.code, 0) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("0 worker(s) may work on it and 1 are "
                                  "needed"));
  EXPECT_THAT(Run("plan -o json -f " + path).out, HasSubstr("\"tau\": 12"));
  EXPECT_EQ(Run("get jobs -o name").out, "");
  EXPECT_EQ(Run("plan -f " + JobFile("one", "trainning: {}\n")).code, 7);
}

TEST_F(SkerryctlTest, TheSameAnswerHasManyForms) {
  ASSERT_EQ(Run("submit -f " + JobFile("one")).code, 0);
  EXPECT_EQ(Run("get jobs -o name").out, "one\n");
  EXPECT_THAT(Run("get jobs -o wide").out,
              testing::AllOf(HasSubstr("REASON"), HasSubstr("diloco"),
                             HasSubstr("it needs 1 worker(s) and may have 0")));
  EXPECT_THAT(Run("get job one -o yaml").out,
              testing::AllOf(StartsWith("id: \"1\"\nspec:\n  name: one\n"),
                             HasSubstr("\n    method: OUTER_METHOD_DILOCO")));
  EXPECT_THAT(Run("get workers -o wide").out, HasSubstr("INTENT"));
  EXPECT_EQ(Run("get islands -o name").out, "");
  ASSERT_EQ(Run("cancel one").code, 0);
  EXPECT_THAT(Run("logs one -o yaml").out, HasSubstr("\n---\n"));
}

TEST_F(SkerryctlTest, ListsAreNarrowedSortedAndCutToColumns) {
  ASSERT_EQ(Run("submit -f " + JobFile("low", "queue: {priority: -2}\n")).code,
            0);
  ASSERT_EQ(Run("submit -f " +
                JobFile("high", "queue: {priority: 7, owner: vision}\n"))
                .code,
            0);
  EXPECT_EQ(Run("get jobs -o name --sort-by priority").out, "low\nhigh\n");
  EXPECT_EQ(Run("get jobs -o name -l owner=vision,phase=pending").out,
            "high\n");
  EXPECT_EQ(
      Run("get jobs -o custom-columns=JOB:name,P:priority,Q:queue.position"
          " --sort-by id")
          .out,
      "JOB    P  Q\nlow   -2  2\nhigh   7  1\n");
  EXPECT_EQ(Run("get jobs -o jsonl").out.find("{\"id\":\"1\""), 0u);
  EXPECT_EQ(Run("get workers --no-headers").out, "");
  const Ran wrong = Run("get jobs -l prioritty=7");
  EXPECT_EQ(wrong.code, 7);
  EXPECT_THAT(wrong.err, HasSubstr("did you mean priority?"));
  EXPECT_EQ(Run("get jobs -o custom-columns").code, 2);
}

TEST_F(SkerryctlTest, ApplyingTwiceIsApplyingOnce) {
  EXPECT_EQ(Run("apply -f " + JobFile("one")).out, "one submitted\n");
  EXPECT_EQ(Run("apply -f " + JobFile("one")).out, "one unchanged\n");
  const Ran other = Run("apply -f " + JobFile("one", "exchange: {carry: 1}\n"));
  EXPECT_EQ(other.code, 4);
  EXPECT_THAT(other.err, HasSubstr("is another one; a job cannot be changed"));
}

TEST_F(SkerryctlTest, OnlyWhatHasEndedIsDeleted) {
  ASSERT_EQ(Run("submit -f " + JobFile("one")).code, 0);
  const Ran early = Run("delete job one");
  EXPECT_EQ(early.code, 4);
  EXPECT_THAT(early.err, HasSubstr("has not ended; cancel it first"));
  ASSERT_EQ(Run("cancel one --yes").code, 0);
  EXPECT_EQ(Run("delete job one").out, "one deleted\n");
  EXPECT_EQ(Run("get job one").code, 3);
  EXPECT_EQ(Run("delete job one").code, 3);
}

TEST_F(SkerryctlTest, DoctorSaysWhatIsWrongAndByItsCodeWhetherAnythingIs) {
  const Ran ran = Run("doctor --state " + folder_ + "/nowhere");
  EXPECT_EQ(ran.code, 4);
  EXPECT_THAT(ran.out, HasSubstr("ok       coordinator: " + address_));
  EXPECT_THAT(ran.out, HasSubstr("problem  workers: none has registered"));
  EXPECT_THAT(ran.out, HasSubstr("nowhere: it cannot be used: No such file"));
  EXPECT_THAT(Run("doctor -o json").out, StartsWith("{\n \"problems\": 1"));
  process_.reset();
  const Ran away = Run("doctor --state " + folder_);
  EXPECT_EQ(away.code, 6);
  EXPECT_THAT(away.out, HasSubstr("problem  coordinator: "));
  EXPECT_THAT(away.out, HasSubstr("folder " + folder_));
}

TEST_F(SkerryctlTest, AWorkerThatIsNotThereHasNoEventsAndNoDescription) {
  EXPECT_EQ(Run("events --worker nobody").code, 3);
  EXPECT_EQ(Run("describe worker nobody").code, 3);
  EXPECT_EQ(Run("events").code, 2);
  EXPECT_EQ(Run("events one --worker nobody").code, 2);
}

// What stands under "spec:", as a file of its own.
std::string SpecIn(const std::string& yaml) {
  const std::string head = "\nspec:\n";
  std::istringstream lines(yaml.substr(yaml.find(head) + head.size()));
  std::string spec;
  for (std::string line; std::getline(lines, line) && line[0] == ' ';) {
    spec += line.substr(2) + "\n";
  }
  return spec;
}

TEST_F(SkerryctlTest, TheJobInAViewIsAJobFile) {
  ASSERT_EQ(Run("submit -f " + JobFile("one")).code, 0);
  const std::string spec = SpecIn(Run("get job one -o yaml").out);
  ASSERT_EQ(Run("cancel one").code, 0);
  const std::string path = folder_ + "/again.yaml";
  std::ofstream(path) << spec;
  const Ran again = Run("submit -f " + path);
  EXPECT_EQ(again.code, 0) << again.err << spec;
  EXPECT_EQ(SpecIn(Run("get job one -o yaml").out), spec);
}

TEST_F(SkerryctlTest, EventsAreFiltered) {
  ASSERT_EQ(Run("submit -f " + JobFile("one")).code, 0);
  ASSERT_EQ(Run("cancel one").code, 0);
  EXPECT_THAT(Run("events one --tail 1").out,
              testing::AllOf(HasSubstr("JobEnded"),
                             testing::Not(HasSubstr("JobSubmitted"))));
  EXPECT_EQ(Run("events one --name Committed").out, "");
  EXPECT_EQ(Run("events one --since 0").out, "");
  EXPECT_EQ(Run("events one --tail 1 -f").code, 2);
}

TEST_F(SkerryctlTest, TopShowsWhatGoesOn) {
  ASSERT_EQ(Run("submit -f " + JobFile("one")).code, 0);
  const Ran top = Run("top --count 2 --interval 0.01");
  EXPECT_EQ(top.code, 0) << top.err;
  EXPECT_THAT(top.out, HasSubstr("1 of 1 jobs unfinished, 0 workers\n"));
  EXPECT_THAT(top.out, HasSubstr("one  pending"));
  // No terminal, so nothing is erased.
  EXPECT_THAT(top.out, testing::Not(HasSubstr("\x1b")));
  process_.reset();
  EXPECT_EQ(Run("top --count 1").code, 6);
}

TEST_F(SkerryctlTest, AFieldIsExplained) {
  EXPECT_THAT(Run("explain training.tau").out, HasSubstr("Inner steps"));
  EXPECT_THAT(Run("explain").out, HasSubstr("\nplacement "));
  EXPECT_THAT(Run("explain exchange -o yaml").out,
              StartsWith("field: exchange\n"));
  const Ran wrong = Run("explain training.taus");
  EXPECT_EQ(wrong.code, 3);
  EXPECT_THAT(wrong.err, HasSubstr("did you mean tau?"));
}

TEST_F(SkerryctlTest, AMistypedNameHasANearestOne) {
  ASSERT_EQ(Run("submit -f " + JobFile("bible")).code, 0);
  const Ran ran = Run("get job bibel");
  EXPECT_EQ(ran.code, 3);
  EXPECT_EQ(ran.err, "skerryctl: no job named bibel; did you mean bible?\n");
}

TEST_F(SkerryctlTest, ContextsNameCoordinators) {
  const std::string home = "XDG_CONFIG_HOME=" + folder_ + "/config ";
  EXPECT_EQ(RunIn(home, "config get").out, "CURRENT  NAME  COORDINATOR\n");
  EXPECT_EQ(RunIn(home, "config use lab").code, 3);
  ASSERT_EQ(RunIn(home, "config set lab --coordinator " + address_).code, 0);
  EXPECT_EQ(RunIn(home, "config set far --coordinator 10.0.0.1:1").code, 7);
  EXPECT_EQ(RunIn(home, "config set '' --coordinator " + address_).code, 2);
  // Nothing says which, so it is the default, where nobody serves.
  EXPECT_EQ(RunIn(home, "get jobs --context lab").code, 0);
  EXPECT_EQ(RunIn(home, "get jobs --context lap").code, 3);
  ASSERT_EQ(RunIn(home, "config use lab").code, 0);
  EXPECT_EQ(RunIn(home, "get jobs").code, 0);
  EXPECT_THAT(RunIn(home, "config get").out, HasSubstr("*        lab"));
  EXPECT_EQ(RunIn(home + "SKERRY_COORDINATOR=127.0.0.1:1 ", "get jobs").code,
            6);
  EXPECT_EQ(RunIn(home, "get jobs --coordinator 127.0.0.1:1").code, 6);
  ASSERT_EQ(RunIn(home, "config delete lab").code, 0);
  EXPECT_EQ(RunIn(home, "config get -o json").out,
            "{\n \"current\": \"\",\n \"contexts\": []\n}\n");
}

TEST_F(SkerryctlTest, ShellsCompleteCommandsAndNames) {
  ASSERT_EQ(Run("submit -f " + JobFile("bible")).code, 0);
  EXPECT_EQ(Run("__complete cancel b").out, "bible\n");
  EXPECT_EQ(Run("__complete canc").out, "cancel\n");
  EXPECT_EQ(Run("__complete submit -f ''").out, ":files\n");
  EXPECT_THAT(Run("__complete explain training.ta").out, "training.tau\n");
  for (const char* shell : {"bash", "zsh", "fish"}) {
    EXPECT_THAT(Run(absl::StrCat("completion ", shell)).out,
                HasSubstr("__complete"));
  }
  const Ran done = RunIn(
      "SKERRY_COORDINATOR=" + address_ + " bash -c 'source <(",
      "completion bash); COMP_WORDS=(cli/skerryctl cancel \"\"); COMP_CWORD=2; "
      "_skerryctl; echo \"${COMPREPLY[@]}\"'");
  EXPECT_EQ(done.out, "bible\n") << done.err;
  // A coordinator that is away is not mentioned.
  process_.reset();
  const Ran away = Run("__complete cancel b");
  EXPECT_EQ(away.code, 0);
  EXPECT_EQ(away.out + away.err, "");
}

}  // namespace
}  // namespace skerry::cli
