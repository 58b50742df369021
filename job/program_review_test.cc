#include "job/program_review.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "job/review.h"
#include "job/testing/specs.h"

namespace skerry::job {
namespace {

std::string Said(const JobSpec& spec) {
  return std::string(ReviewJobSpec(spec).status().message());
}

// The fields that the review names, in its order.
std::vector<std::string> FieldsOf(const std::string& problems) {
  std::vector<std::string> fields;
  for (const absl::string_view line : absl::StrSplit(problems, '\n')) {
    fields.emplace_back(line.substr(0, line.find(": ")));
  }
  return fields;
}

TEST(ProgramReviewTest, AProgramTakesTheWorkOfTheEngine) {
  const auto reviewed = ReviewJobSpec(ProgramJob("job", 100));
  ASSERT_TRUE(reviewed.ok()) << reviewed.status();
  const JobSpec& filled = reviewed->spec;
  EXPECT_FALSE(filled.training.learning_rate.has_value());
  EXPECT_FALSE(filled.training.micro_batch_samples.has_value());
  EXPECT_FALSE(filled.data.sequence_tokens.has_value());
  EXPECT_EQ(filled.training.evaluate_every, 5u);
  EXPECT_TRUE(filled.outer.learning_rate.has_value());
  EXPECT_EQ(ReviewJobSpec(filled)->spec, filled);
  EXPECT_EQ(ReviewWork(filled).value(), filled);
}

TEST(ProgramReviewTest, AShortLastStepIsWarnedAbout) {
  JobSpec spec = ProgramJob("job", 96);
  spec.training.batch_samples = 8;
  EXPECT_TRUE(ReviewJobSpec(spec)->warnings.empty());
  spec.training.samples = 97;
  EXPECT_EQ(ReviewJobSpec(spec)->warnings.at(0),
            "training.samples: is no multiple of training.batch_samples, so "
            "the last step has 1 sample, and a program of more ranks cannot "
            "take it; with 96 every step is whole");
}

TEST(ProgramReviewTest, AJobHasOneModel) {
  JobSpec spec = ProgramJob("job", 100);
  spec.model.config_json = kTinyConfig;
  EXPECT_EQ(Said(spec),
            "model.program: stands beside model.config_json, and a job trains "
            "either Skerry's own model or a program; leave one of them out");
}

TEST(ProgramReviewTest, EveryFieldThatTheProgramDecidesIsRefused) {
  JobSpec spec = ProgramJob("job", 100);
  // All that the engine takes.
  spec.training = ReviewJobSpec(SmallJob("job", 100))->spec.training;
  spec.training.momentum = 0.9;
  spec.training.nesterov = true;
  spec.training.decay_fraction = 0.2;
  spec.training.recompute = true;
  const std::vector<std::string> wanted = {"training.micro_batch_samples",
                                           "training.learning_rate",
                                           "training.beta1",
                                           "training.beta2",
                                           "training.epsilon",
                                           "training.weight_decay",
                                           "training.warmup_fraction",
                                           "training.min_learning_rate_ratio",
                                           "training.clip_norm",
                                           "training.optimizer",
                                           "training.momentum",
                                           "training.nesterov",
                                           "training.schedule",
                                           "training.decay_fraction",
                                           "training.recompute",
                                           "training.compute"};
  EXPECT_EQ(FieldsOf(Said(spec)), wanted);
  EXPECT_EQ(FieldsOf(std::string(ReviewWork(spec).status().message())), wanted);
  LeaveToProgram(spec.training);
  EXPECT_TRUE(ReviewJobSpec(spec).ok()) << ReviewJobSpec(spec).status();
}

TEST(ProgramReviewTest, TheProgramOpensItsDataByItself) {
  JobSpec spec = ProgramJob("job", 100);
  spec.data.path = "/data/text";
  spec.data.manifest_sha256 = std::string(64, 'a');
  spec.data.sequence_tokens = 32;
  EXPECT_EQ(FieldsOf(Said(spec)),
            (std::vector<std::string>{"data.path", "data.manifest_sha256",
                                      "data.sequence_tokens"}));
  spec = ProgramJob("job", 100);
  spec.data.id = "";
  spec.data.samples.reset();
  EXPECT_TRUE(ReviewJobSpec(spec).ok());
  spec.data.samples = 0;
  EXPECT_EQ(Said(spec),
            "data.samples: has to be 1 to 281474976710656, not 0; leave it out "
            "when the program says it");
  spec.data.samples.reset();
  spec.data.id = "image\nnet";
  EXPECT_EQ(Said(spec),
            "data.id: has to be at most 256 bytes without control characters, "
            "not \"image\\nnet\"");
}

TEST(ProgramReviewTest, TheFieldsOfAProgramAreNotForTheEngine) {
  JobSpec spec = SmallJob("job", 100);
  spec.data.id = "imagenet";
  spec.data.samples = 5;
  EXPECT_EQ(FieldsOf(Said(spec)),
            (std::vector<std::string>{"data.id", "data.samples"}));
}

TEST(ProgramReviewTest, ANameIsWhatAWorkerCanAllow) {
  for (const char* name : {"", "-x", "Res", "a/b", "../x", "a b"}) {
    JobSpec spec = ProgramJob("job", 100);
    spec.model.program->name = name;
    EXPECT_EQ(FieldsOf(Said(spec)),
              std::vector<std::string>{"model.program.name"})
        << name;
  }
}

TEST(ProgramReviewTest, AHashIsOneOrNone) {
  JobSpec spec = ProgramJob("job", 100);
  spec.model.program->sha256 = std::string(64, 'b');
  EXPECT_TRUE(ReviewJobSpec(spec).ok());
  spec.model.program->sha256 = "abc";
  EXPECT_EQ(Said(spec),
            "model.program.sha256: has to be 64 lower-case hex digits, not "
            "\"abc\"; leave it out to take the program of the first worker");
}

TEST(ProgramReviewTest, AProgramStartsFromACheckpointOfAJobOnly) {
  JobSpec spec = ProgramJob("job", 100);
  spec.model.checkpoint = JobSpec::Checkpoint{
      "/saved", "checkpoint-4", std::string(64, 'a'), Samples::kAnew, {}};
  EXPECT_EQ(Said(spec), "");
  spec.model.checkpoint->name = "";
  EXPECT_EQ(Said(spec),
            "model.checkpoint.name: is needed: a job with a program starts "
            "from a checkpoint of a job, and the program itself can load other "
            "weights");
}

std::string Nested(int levels) {
  return absl::StrCat(R"({"a": )", std::string(levels - 1, '['), "5",
                      std::string(levels - 1, ']'), "}");
}

TEST(ProgramReviewTest, ParametersAreOneJsonObject) {
  JobSpec spec = ProgramJob("job", 100);
  std::string& text = spec.model.program->parameters_json;
  for (const std::string& fine :
       {std::string(), std::string("{}"), std::string(" {\"a\": [1, null]} "),
        Nested(64)}) {
    text = fine;
    EXPECT_EQ(Said(spec), "") << fine;
  }
  for (const std::string& bad :
       {std::string("[]"), std::string("64"), std::string("{"),
        std::string("{} {}"), std::string("{\"a\": NaN}"), Nested(65),
        std::string("{\"a\": \"\xff\"}"), std::string(64 * 1024, '['),
        std::string(64 * 1024 + 1, ' ')}) {
    text = bad;
    EXPECT_EQ(FieldsOf(Said(spec)),
              std::vector<std::string>{"model.program.parameters_json"})
        << bad.substr(0, 100);
  }
}

}  // namespace
}  // namespace skerry::job
