#include "coordinator/core/rules/programs.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "job/testing/specs.h"

namespace skerry::coordinator {
namespace {

const std::string kOne(64, 'a');
const std::string kTwo(64, 'b');

Worker With(const std::string& name,
            std::vector<protocol::ProgramFact> programs) {
  Worker worker;
  worker.self.worker = name;
  worker.programs = std::move(programs);
  return worker;
}

job::JobSpec Job(const std::string& sha256 = "") {
  job::JobSpec spec = job::ProgramJob("job", 100);
  spec.model.program->sha256 = sha256;
  return spec;
}

TEST(ProgramsTest, AWorkerHasToAllowTheProgram) {
  EXPECT_EQ(WhyNoProgram(Job(), "", With("w0", {{"resnet", kOne}})), "");
  EXPECT_EQ(WhyNoProgram(Job(), "", With("w0", {{"mnist", kOne}})),
            "it does not allow the program resnet; start it with --program "
            "resnet=FILE");
  EXPECT_EQ(WhyNoProgram(Job(), "", With("w0", {{"resnet", ""}})),
            "it cannot read the file of its program resnet");
  EXPECT_EQ(WhyNoProgram(job::SmallJob("job", 100), "", With("w0", {})), "");
}

TEST(ProgramsTest, AnotherFileIsRefusedWithBothHashes) {
  const Worker worker = With("w0", {{"resnet", kTwo}});
  EXPECT_EQ(WhyNoProgram(Job(), kOne, worker),
            "its program resnet has the SHA-256 " + kTwo +
                ", and that of the job's first worker has " + kOne +
                "; give all workers the same file");
  EXPECT_EQ(WhyNoProgram(Job(kOne), "", worker),
            "its program resnet has the SHA-256 " + kTwo +
                ", and the job names " + kOne +
                "; give all workers the same file");
  EXPECT_EQ(WhyNoProgram(Job(kTwo), kOne, worker), "");
}

struct Review {
  std::vector<std::string> warnings;
  job::SpecProblems problems;
};

Review ReviewOn(const job::JobSpec& spec, const std::vector<Worker>& workers) {
  std::vector<const Worker*> there;
  for (const Worker& worker : workers) there.push_back(&worker);
  Review review;
  ReviewPrograms(spec, there, review.warnings, review.problems);
  return review;
}

TEST(ProgramsTest, AJobThatNobodyCanServeIsRefusedAndSaysWhatIsWhere) {
  const Review nobody =
      ReviewOn(Job(), {With("w0", {{"mnist", kOne}, {"gpt", kOne}}),
                       With("w1", {}), With("w2", {{"mnist", kOne}})});
  EXPECT_EQ(nobody.problems.lines(),
            std::vector<std::string>{
                "model.program.name: no worker that is there allows the "
                "program resnet; they allow gpt on w0; mnist on w0, w2; start "
                "workers with --program resnet=FILE"});
  const Review other = ReviewOn(Job(kOne), {With("w0", {{"resnet", kTwo}})});
  ASSERT_EQ(other.problems.lines().size(), 1u);
  EXPECT_EQ(other.problems.lines()[0],
            "model.program.sha256: no worker has that program; worker w0: its "
            "program resnet has the SHA-256 " +
                kTwo + ", and the job names " + kOne +
                "; give all workers the same file");
}

TEST(ProgramsTest, WhatSomeLackIsAWarningAndWithoutWorkersTheJobWaits) {
  const Review some =
      ReviewOn(Job(), {With("w0", {{"resnet", kOne}}), With("w1", {})});
  EXPECT_TRUE(some.problems.empty());
  EXPECT_EQ(some.warnings,
            std::vector<std::string>{
                "model.program: worker w1: it does not allow the program "
                "resnet; start it with --program resnet=FILE"});
  const Review none = ReviewOn(Job(), {});
  EXPECT_TRUE(none.problems.empty());
  EXPECT_TRUE(none.warnings.empty());
}

}  // namespace
}  // namespace skerry::coordinator
