// The kit on the trainers of this repository.
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <future>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/sha256.h"
#include "data/prepare/testing/prepare.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/json_util.h"
#include "gtest/gtest.h"
#include "proto/skerry/v1/job.pb.h"
#include "runtime/posix/mapped_file.h"
#include "runtime/posix/posix_files.h"
#include "runtime/posix/posix_loop.h"
#include "runtime/posix/process.h"
#include "trainer/testing/in_process_trainer.h"

namespace skerry::trainer {
namespace {

using ::testing::HasSubstr;

struct KitRun {
  int code = 0;
  std::string text;
};

// Runs the kit and returns what it printed.
KitRun RunKit(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "trainer/kit/main/trainer_kit");
  int output[2];
  EXPECT_EQ(pipe(output), 0);
  runtime::PosixLoop loop("test");
  runtime::ProcessSpec spec;
  spec.argv = std::move(arguments);
  spec.output_fd = output[1];
  std::promise<int> code;
  auto kit = runtime::Process::Start(
      spec, loop,
      [&](runtime::ProcessExit exit) { code.set_value(exit.code); });
  EXPECT_TRUE(kit.ok()) << kit.status();
  close(output[1]);
  KitRun run;
  char piece[4096];
  for (ssize_t n; (n = read(output[0], piece, sizeof(piece))) > 0;) {
    run.text.append(piece, static_cast<size_t>(n));
  }
  close(output[0]);
  run.code = code.get_future().get();
  loop.Stop();
  return run;
}

class TrainerKitTest : public ::testing::Test {
 protected:
  TrainerKitTest() : folder_(absl::StrCat(::testing::TempDir(), "/kit")) {
    mkdir(folder_.c_str(), 0700);
  }

  std::vector<std::string> Attach(const std::string& parameters,
                                  const std::string& ranks) {
    return {absl::StrCat("--parameters=", parameters),
            "--",
            "trainer/attach/main/skerry-attach",
            "--program=trainer/attach/testing/quadratic_rank.py",
            absl::StrCat("--log-directory=", folder_),
            absl::StrCat("--ranks=", ranks)};
  }

  // A file with a job of the engine, whose data it makes.
  std::string EngineJob() {
    const std::string text = MadeUpText(1, 20000);
    std::ofstream(folder_ + "/text.txt") << text;
    runtime::PosixFiles files;
    std::ostringstream err;
    EXPECT_TRUE(data::testing::Prepare({.inputs = {folder_ + "/text.txt"},
                                        .output_directory = folder_},
                                       {}, files, err)
                    .ok());
    v1::JobSpec job;
    job.set_name("test");
    job.mutable_model()->set_config_json(SmallTrainingOptions().config_json);
    job.mutable_data()->set_path(folder_);
    job.mutable_data()->set_manifest_sha256(
        Sha256Hex(runtime::MappedFile::Open(folder_ + "/manifest.json")
                      .value()
                      ->bytes()));
    job.mutable_training()->set_samples(800'000);
    job.mutable_training()->set_batch_samples(8);
    job.mutable_training()->set_learning_rate(3e-3);
    job.mutable_outer()->set_method(v1::JobSpec::OUTER_METHOD_LOCAL_SGD);
    std::string json;
    EXPECT_TRUE(google::protobuf::util::MessageToJsonString(job, &json).ok());
    const std::string path = folder_ + "/job.json";
    std::ofstream(path) << json;
    return path;
  }

  const std::string folder_;
};

TEST_F(TrainerKitTest, EngineKeepsEveryRule) {
  const KitRun run =
      RunKit({"--job=" + EngineJob(), "--", "trainer/main/skerry-trainer"});
  EXPECT_EQ(run.code, 0) << run.text;
  EXPECT_THAT(run.text, HasSubstr("20 passed, 0 failed, 1 skipped"));
}

TEST_F(TrainerKitTest, AttachedProgramKeepsEveryRule) {
  const KitRun run = RunKit(Attach("{}", "2"));
  EXPECT_EQ(run.code, 0) << run.text;
  EXPECT_THAT(run.text, HasSubstr("21 passed, 0 failed, 0 skipped"));
}

TEST_F(TrainerKitTest, BrokenRulesAreNamed) {
  const KitRun run =
      RunKit(Attach(R"({"fault": "dies", "fault_call": "Evaluate"})", "1"));
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.text, HasSubstr("failed   Evaluate leaves no trace: rank 0 "
                                  "ended with code 3"));
  EXPECT_THAT(run.text, HasSubstr("20 passed, 1 failed, 0 skipped"));
}

TEST_F(TrainerKitTest, WrongCommandLineIsOneLine) {
  EXPECT_EQ(RunKit({}).code, 2);
  const KitRun run = RunKit({"--job=/nowhere", "--", "x"});
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.text, HasSubstr("--job: cannot read /nowhere"));
}

}  // namespace
}  // namespace skerry::trainer
