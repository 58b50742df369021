#include "job/review.h"

#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "job/testing/specs.h"

namespace skerry::job {
namespace {

bool Says(const absl::Status& status, const std::string& what) {
  return std::string(status.message()).find(what) != std::string::npos;
}

TEST(ReviewTest, DefaultsAreFilledAndReviewingAgainChangesNothing) {
  JobSpec spec = SmallJob("job", 100);
  spec.training.tau = JobSpec().training.tau;
  const auto reviewed = ReviewJobSpec(spec);
  ASSERT_TRUE(reviewed.ok()) << reviewed.status();
  EXPECT_EQ(reviewed->spec.training.tau, 12u);
  EXPECT_EQ(reviewed->spec.training.micro_batch_samples, 4u);
  EXPECT_EQ(reviewed->spec.exchange.codec, "int8_block");
  EXPECT_EQ(reviewed->spec.data.sequence_tokens, 64u);
  EXPECT_EQ(reviewed->spec.outer.learning_rate, 1.0);
  const auto again = ReviewJobSpec(reviewed->spec);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->spec, reviewed->spec);
}

TEST(ReviewTest, EveryProblemIsSaidAtOnceWithItsPath) {
  JobSpec spec = SmallJob("Bad Name", 0);
  spec.training.batch_samples = 0;
  spec.exchange.codec = "zip";
  spec.exchange.quorum = 2;
  spec.training.learning_rate = -1;
  const absl::Status status = ReviewJobSpec(spec).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  for (const char* path :
       {"name:", "training.samples:", "training.batch_samples:",
        "exchange.codec:", "exchange.quorum:", "training.learning_rate:"}) {
    EXPECT_TRUE(Says(status, path)) << path;
  }
}

TEST(ReviewTest, NotANumberIsInNoRange) {
  JobSpec spec = SmallJob("job", 100);
  spec.training.weight_decay = std::nan("");
  spec.exchange.quorum = std::nan("");
  const absl::Status status = ReviewJobSpec(spec).status();
  EXPECT_TRUE(Says(status, "training.weight_decay:"));
  EXPECT_TRUE(Says(status, "exchange.quorum:"));
}

TEST(ReviewTest, EachOptimizerHasItsOwnDefaults) {
  JobSpec spec = SmallJob("job", 100);
  const auto filled = [&](InnerOptimizer optimizer) {
    spec.training.optimizer = optimizer;
    const auto reviewed = ReviewJobSpec(spec);
    EXPECT_TRUE(reviewed.ok()) << reviewed.status();
    EXPECT_EQ(ReviewJobSpec(reviewed->spec)->spec, reviewed->spec);
    return reviewed->spec.training;
  };
  EXPECT_EQ(filled(InnerOptimizer::kAdamW).weight_decay, 0.1);
  EXPECT_FALSE(filled(InnerOptimizer::kAdamW).momentum.has_value());
  EXPECT_EQ(filled(InnerOptimizer::kLamb).weight_decay, 0.01);
  EXPECT_EQ(filled(InnerOptimizer::kSgd).weight_decay, 0.0);
  EXPECT_EQ(filled(InnerOptimizer::kSgd).momentum, 0.9);
  EXPECT_EQ(filled(InnerOptimizer::kMuon).momentum, 0.95);
  EXPECT_EQ(filled(InnerOptimizer::kMuon).nesterov, true);
  spec.training.weight_decay = 0;
  EXPECT_EQ(filled(InnerOptimizer::kMuon).weight_decay, 0.0);
}

TEST(ReviewTest, WhatHasNoEffectIsRefused) {
  JobSpec spec = SmallJob("job", 100);
  spec.training.momentum = 0.9;
  spec.training.nesterov = true;
  spec.training.decay_fraction = 0.1;
  absl::Status status = ReviewJobSpec(spec).status();
  EXPECT_TRUE(Says(status, "training.momentum: is only sgd's and muon's"));
  EXPECT_TRUE(Says(status, "training.nesterov:"));
  EXPECT_TRUE(Says(status, "training.decay_fraction:"));
  spec.training.optimizer = InnerOptimizer::kSgd;
  spec.training.schedule = Schedule::kWsd;
  EXPECT_TRUE(ReviewJobSpec(spec).ok());
  spec.training.momentum = 0;
  EXPECT_TRUE(Says(ReviewJobSpec(spec).status(), "training.nesterov:"));
  spec.training.momentum = 1;
  spec.training.decay_fraction = 1.5;
  status = ReviewJobSpec(spec).status();
  EXPECT_TRUE(Says(status, "training.momentum:"));
  EXPECT_TRUE(Says(status, "training.decay_fraction:"));
}

TEST(ReviewTest, SgdHasNoBetas) {
  JobSpec spec = SmallJob("job", 100);
  spec.training.beta1 = 0.9;
  spec.training.beta2 = 0.95;
  spec.training.epsilon = 1e-8;
  EXPECT_TRUE(ReviewJobSpec(spec).ok());
  spec.training.optimizer = InnerOptimizer::kSgd;
  const absl::Status status = ReviewJobSpec(spec).status();
  for (const char* field : {"beta1", "beta2", "epsilon"}) {
    EXPECT_TRUE(
        Says(status, absl::StrCat("training.", field, ": is not sgd's")))
        << status;
  }
}

TEST(ReviewTest, AnInverseSquareRootNeedsAWarmUp) {
  JobSpec spec = SmallJob("job", 100);
  spec.training.schedule = Schedule::kInverseSqrt;
  EXPECT_TRUE(ReviewJobSpec(spec).ok());
  spec.training.warmup_fraction = 0;
  EXPECT_TRUE(Says(ReviewJobSpec(spec).status(), "training.warmup_fraction:"));
}

TEST(ReviewTest, AnUnstableOuterLoopIsRefused) {
  JobSpec spec = SmallJob("job", 100);
  spec.outer.method = OuterMethod::kCo2;
  spec.outer.learning_rate = 0.9;
  spec.outer.momentum = 0.9;
  EXPECT_TRUE(Says(ReviewJobSpec(spec).status(), "outer:"));
}

TEST(ReviewTest, SparseCodecsNeedErrorFeedbackAndNoMomentum) {
  JobSpec spec = SmallJob("job", 100);
  for (const char* codec :
       {"top_k/16", "chunk_top_k/64", "threshold_top_k/4"}) {
    SCOPED_TRACE(codec);
    spec.exchange.codec = codec;
    spec.outer = {};
    spec.outer.method = OuterMethod::kLocalSgd;
    const auto reviewed = ReviewJobSpec(spec);
    ASSERT_TRUE(reviewed.ok()) << reviewed.status();
    EXPECT_EQ(reviewed->spec.outer.beta, 1.0);
    EXPECT_EQ(ReviewJobSpec(reviewed->spec)->spec, reviewed->spec);
    spec.outer.beta = 0.0;
    EXPECT_TRUE(Says(ReviewJobSpec(spec).status(), "outer.beta:"));
    spec.outer.beta.reset();
    spec.outer.method = OuterMethod::kDiloco;
    EXPECT_TRUE(Says(ReviewJobSpec(spec).status(), "momentum"));
    spec.outer.momentum = 0.0;
    spec.outer.nesterov = false;
    EXPECT_TRUE(ReviewJobSpec(spec).ok()) << ReviewJobSpec(spec).status();
  }
  spec.exchange.codec = "top_k/5";
  EXPECT_TRUE(Says(ReviewJobSpec(spec).status(), "exchange.codec:"));
}

TEST(ReviewTest, AnAdaptiveJobCarriesErrorsUnlessItSaysOtherwise) {
  JobSpec spec = SmallJob("job", 100);
  spec.exchange.codec = "adaptive";
  for (const OuterMethod method : {OuterMethod::kCo2, OuterMethod::kDiloco}) {
    spec.outer.method = method;
    const auto reviewed = ReviewJobSpec(spec);
    ASSERT_TRUE(reviewed.ok()) << reviewed.status();
    EXPECT_EQ(reviewed->spec.outer.beta, 1.0);
  }
  spec.outer.beta = 0.0;
  EXPECT_TRUE(ReviewJobSpec(spec).ok());
}

TEST(ReviewTest, OneBitWithoutErrorFeedbackIsRefusedInOneLine) {
  JobSpec spec = SmallJob("job", 100);
  spec.exchange.codec = "sign1";
  ASSERT_TRUE(ReviewJobSpec(spec).ok()) << ReviewJobSpec(spec).status();
  EXPECT_EQ(ReviewJobSpec(spec)->spec.outer.beta, 1.0);
  spec.outer.beta = 0.0;
  EXPECT_EQ(ReviewJobSpec(spec).status().message(),
            "outer.beta: does not go with sign1: one bit a value without error "
            "feedback diverges; leave outer.beta out, which is 1 then, or use "
            "a codec of 4 bits or more, such as nf4");
}

TEST(ReviewTest, OneScaleForAllValuesIsRefusedInOneLine) {
  JobSpec spec = SmallJob("job", 100);
  spec.exchange.codec = "sign1_whole";
  for (const double beta : {0.0, 1.0}) {
    spec.outer.beta = beta;
    EXPECT_EQ(ReviewJobSpec(spec).status().message(),
              "exchange.codec: does not go with sign1_whole: one scale for all "
              "values diverges where curvature varies; use sign1, which has a "
              "scale for each 256 values");
  }
}

TEST(ReviewTest, AnErrorCapIsAdaptivesAndOneThatTheMenuKeeps) {
  JobSpec spec = SmallJob("job", 100);
  spec.exchange.codec = "adaptive";
  for (const double fine : {0.0071, 0.1, 1.0}) {
    spec.exchange.error_max = fine;
    const auto reviewed = ReviewJobSpec(spec);
    ASSERT_TRUE(reviewed.ok()) << reviewed.status();
    EXPECT_EQ(reviewed->spec.exchange.error_max, fine);
  }
  for (const double bad : {-1.0, 0.0, 0.007, 1.1, std::nan("")}) {
    spec.exchange.error_max = bad;
    EXPECT_TRUE(Says(ReviewJobSpec(spec).status(), "exchange.error_max:"))
        << bad;
  }
  spec.exchange.error_max = 0.1;
  for (const char* codec : {"nf4", "ada_top_k/16"}) {
    spec.exchange.codec = codec;
    EXPECT_TRUE(Says(ReviewJobSpec(spec).status(), "only adaptive's")) << codec;
  }
}

TEST(ReviewTest, AdaTopKIsRefusedWhereSparseCodecsAre) {
  JobSpec spec = SmallJob("job", 100);
  spec.exchange.codec = "ada_top_k/16";
  spec.outer.method = OuterMethod::kCo2;
  const auto reviewed = ReviewJobSpec(spec);
  ASSERT_TRUE(reviewed.ok()) << reviewed.status();
  EXPECT_EQ(reviewed->spec.outer.beta, 1.0);
  spec.outer.beta = 0.0;
  EXPECT_TRUE(Says(ReviewJobSpec(spec).status(), "outer.beta:"));
  spec.outer.beta = 1.0;
  spec.outer.method = OuterMethod::kDiloco;  // with outer momentum
  EXPECT_TRUE(Says(ReviewJobSpec(spec).status(), "outer.momentum:"));
  spec.exchange.codec = "ada_top_k/5";
  EXPECT_TRUE(Says(ReviewJobSpec(spec).status(), "exchange.codec:"));
}

TEST(ReviewTest, WeakDampingIsWarnedOfUnlessAccepted) {
  JobSpec spec = SmallJob("job", 100);
  spec.outer.method = OuterMethod::kCo2;
  spec.outer.learning_rate = 0.8;
  ASSERT_TRUE(ReviewJobSpec(spec).ok());
  EXPECT_EQ(ReviewJobSpec(spec)->warnings.size(), 1u);
  spec.outer.accept_weak_damping = true;
  EXPECT_TRUE(ReviewJobSpec(spec)->warnings.empty());
}

TEST(ReviewTest, ConfigsThatAreNoObjectAreRefusedWithoutCrashing) {
  for (const char* text : {"", "{", "[1]", "7", "{\"n_positions\": 64}",
                           "{\"model_type\": \"gpt2\", \"n_positions\": -3}",
                           "{\"model_type\": \"gpt2\", \"n_head\": 7}"}) {
    JobSpec spec = SmallJob("job", 100);
    spec.model.config_json = text;
    EXPECT_FALSE(ReviewJobSpec(spec).ok()) << text;
  }
}

TEST(ReviewTest, OwnerAndPriorityHaveTheirBounds) {
  JobSpec spec = SmallJob("job", 100);
  spec.queue = {-1000, "team.vision"};
  EXPECT_EQ(ReviewJobSpec(spec)->spec.queue, spec.queue);
  spec.queue = {1001, "Team Vision"};
  const absl::Status status = ReviewJobSpec(spec).status();
  EXPECT_TRUE(Says(status, "queue.priority: has to be -1000 to 1000"));
  EXPECT_TRUE(Says(status, "queue.owner:"));
  spec.queue = {0, "-x"};
  EXPECT_EQ(ReviewJobSpec(spec).status().message(),
            "queue.owner: has to begin with a letter or a digit, not \"-x\": "
            "commands take a dash for an option");
}

TEST(ReviewTest, AnEmptyDataPathIsOneProblem) {
  JobSpec spec = SmallJob("job", 100);
  spec.data.path = "";
  spec.data.manifest_sha256 = "";
  EXPECT_EQ(ReviewJobSpec(spec).status().message(),
            "data.path: has to name the folder that `skerryctl data prepare` "
            "made, or s3://BUCKET/PREFIX");
}

TEST(ReviewTest, DataMayLieInAnObjectStore) {
  JobSpec spec = SmallJob("job", 100);
  spec.data.path = "s3://lab@models/text";
  EXPECT_TRUE(ReviewJobSpec(spec).ok());
  spec.data.path = "s3:///text";
  const std::string said(ReviewJobSpec(spec).status().message());
  EXPECT_TRUE(said.starts_with("data.path: ")) << said;
}

TEST(ReviewTest, NesterovOfNoMomentumNamesBothCures) {
  JobSpec spec = SmallJob("job", 100);
  spec.outer.method = OuterMethod::kDiloco;
  spec.outer.momentum = 0;
  EXPECT_EQ(ReviewJobSpec(spec).status().message(),
            "outer.nesterov: is true, which has no meaning without momentum; "
            "set nesterov to false, or momentum above 0");
  spec.outer.nesterov = false;
  EXPECT_TRUE(ReviewJobSpec(spec).ok()) << ReviewJobSpec(spec).status();
}

JobSpec FromCheckpoint(Samples samples) {
  JobSpec spec = SmallJob("job", 100);
  spec.model.checkpoint = JobSpec::Checkpoint{
      "/checkpoints", "checkpoint-5", std::string(64, 'b'), samples, {}};
  return spec;
}

TEST(ReviewTest, ACheckpointIsTakenWithItsSamplesSaid) {
  EXPECT_TRUE(ReviewJobSpec(FromCheckpoint(Samples::kAnew)).ok());
  JobSpec spec = FromCheckpoint(Samples::kGoOn);
  spec.model.checkpoint->consumed = {{0, 40}, {48, 56}};
  const auto reviewed = ReviewJobSpec(spec);
  ASSERT_TRUE(reviewed.ok()) << reviewed.status();
  EXPECT_EQ(ConsumedBefore(reviewed->spec).total(), 48u);
  EXPECT_TRUE(
      Says(ReviewJobSpec(FromCheckpoint(Samples::kUnspecified)).status(),
           "model.checkpoint.samples: is not set; use anew"));
}

TEST(ReviewTest, ACheckpointThatCannotBeMeantIsRefused) {
  JobSpec spec = FromCheckpoint(Samples::kAnew);
  spec.model.checkpoint->path = "relative";
  spec.model.checkpoint->name = "newest";
  spec.model.checkpoint->sha256 = "";
  spec.model.checkpoint->consumed = {{0, 8}};
  const absl::Status status = ReviewJobSpec(spec).status();
  for (const char* path :
       {"model.checkpoint.path:", "model.checkpoint.name:",
        "model.checkpoint.sha256:", "model.checkpoint.consumed:"}) {
    EXPECT_TRUE(Says(status, path)) << path;
  }
}

TEST(ReviewTest, AJobThatGoesOnHasSomethingLeftToTrainOn) {
  JobSpec spec = FromCheckpoint(Samples::kGoOn);
  EXPECT_TRUE(Says(ReviewJobSpec(spec).status(),
                   "does not say which samples it has taken in"));
  spec.model.checkpoint->consumed = {{0, 100}};
  EXPECT_TRUE(Says(ReviewJobSpec(spec).status(), "nothing is left"));
  spec.model.checkpoint->consumed = {{0, 101}};
  EXPECT_TRUE(Says(ReviewJobSpec(spec).status(),
                   "training.samples: is below sample 101"));
}

TEST(ReviewTest, CheckpointsOfAJobHaveDefaultsAndBounds) {
  JobSpec spec = SmallJob("saved", 100);
  EXPECT_FALSE(ReviewJobSpec(spec)->spec.checkpoint.has_value());
  spec.checkpoint = JobSpec::Checkpoints{"/saved"};
  const auto reviewed = ReviewJobSpec(spec);
  ASSERT_TRUE(reviewed.ok()) << reviewed.status();
  EXPECT_EQ(reviewed->spec.checkpoint->every, 20u);
  EXPECT_EQ(reviewed->spec.checkpoint->keep, 3u);
  spec.checkpoint = JobSpec::Checkpoints{"saved", 1u << 21, 1u << 11};
  const absl::Status status = ReviewJobSpec(spec).status();
  for (const char* path :
       {"checkpoint.directory:", "checkpoint.every:", "checkpoint.keep:"}) {
    EXPECT_TRUE(Says(status, path)) << path;
  }
}

TEST(ReviewTest, ANameThatBeginsWithADashIsRefused) {
  EXPECT_EQ(ReviewJobSpec(SmallJob("-f", 100)).status().message(),
            "name: has to begin with a letter or a digit, not \"-f\": commands "
            "take a dash for an option");
  EXPECT_TRUE(ReviewJobSpec(SmallJob("f-", 100)).ok());
  EXPECT_EQ(
      ReviewJobSpec(SmallJob(std::string("ba\0se", 5), 100)).status().message(),
      "name: has to be 1 to 63 lower-case letters, digits and dashes, "
      "not \"ba\\x00se\"");
}

TEST(ReviewTest, MoreReplicasThanNamedIslandsAreRefused) {
  JobSpec spec = SmallJob("job", 100);
  spec.exchange.min_replicas = 50;
  EXPECT_TRUE(ReviewJobSpec(spec).ok());
  spec.placement.islands = {"a", "b"};
  EXPECT_EQ(ReviewJobSpec(spec).status().message(),
            "exchange.min_replicas: is 50, and placement.islands names 2: an "
            "island is one replica; lower it, or name more islands");
  spec.exchange.min_replicas = 2;
  EXPECT_TRUE(ReviewJobSpec(spec).ok());
}

TEST(ReviewTest, ASampleEndsWithTheModelsContext) {
  JobSpec spec = SmallJob("job", 100);
  for (const uint32_t bad : {0u, 65u}) {
    spec.data.sequence_tokens = bad;
    EXPECT_EQ(ReviewJobSpec(spec).status().message(),
              absl::StrCat("data.sequence_tokens: has to be 1 to 64, not ", bad,
                           "; it ends with the model's context"));
  }
}

// A trainer cannot count the tokens of a larger batch.
TEST(ReviewTest, RowsAtOnceEndWhereATrainersBatchesDo) {
  JobSpec spec = SmallJob("job", 100);
  absl::StrReplaceAll({{"64", "32768"}}, &spec.model.config_json);
  spec.training.batch_samples = 40'000;
  EXPECT_EQ(ReviewJobSpec(spec).status().message(),
            "training.batch_samples: is 40000, and with sequences of 32768 "
            "tokens a trainer computes at most 32767 rows at once; lower it, "
            "or set training.micro_batch_samples to what fits in memory");
  spec.training.micro_batch_samples = 32'768;
  EXPECT_EQ(ReviewJobSpec(spec).status().message(),
            "training.micro_batch_samples: is 32768, and with sequences of "
            "32768 tokens a trainer computes at most 32767 rows at once; lower "
            "it");
  spec.training.micro_batch_samples = 32'767;
  EXPECT_TRUE(ReviewJobSpec(spec).ok());
}

// Jobs of an older release, accepted under other names, go on.
TEST(ReviewTest, AReviewOfTheWorkLooksAtNoNames) {
  JobSpec spec = SmallJob("-f", 100);
  spec.model.config_json.clear();
  spec.data.manifest_sha256.clear();
  const auto work = ReviewWork(spec);
  ASSERT_TRUE(work.ok()) << work.status();
  EXPECT_EQ(work->training.beta1, 0.9);
  EXPECT_FALSE(work->data.sequence_tokens.has_value());
  spec.training.tau = 0;
  EXPECT_EQ(ReviewWork(spec).status().message(),
            "training.tau: has to be 1 to 1048576, not 0; it is the number of "
            "inner steps in a round");
}

}  // namespace
}  // namespace skerry::job
