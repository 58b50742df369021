#include "job/review_work.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "job/review.h"
#include "job/testing/specs.h"

namespace skerry::job {
namespace {

struct Broken {
  const char* message;
  void (*change)(JobSpec&);
};

// One row for each field with a bound: what is just outside, and the message.
class BoundTest : public testing::TestWithParam<Broken> {};

TEST_P(BoundTest, IsSaidWithFieldBoundAndValue) {
  JobSpec spec = SmallJob("job", 100);
  ASSERT_TRUE(ReviewWork(spec).ok());
  GetParam().change(spec);
  EXPECT_EQ(ReviewWork(spec).status().message(), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Bounds, BoundTest,
    testing::Values(
        Broken{"training.samples: is 0 or left out; it is the length of the "
               "run: write 1 to 281474976710656",
               [](JobSpec& s) { s.training.samples = 0; }},
        Broken{"training.batch_samples: is 0 or left out; it is what a worker "
               "draws for one inner step: write 1 to 1048576",
               [](JobSpec& s) { s.training.batch_samples = 0; }},
        Broken{"training.batch_samples: has to be 1 to 1048576, not 1048577; "
               "it is what a worker draws for one inner step",
               [](JobSpec& s) {
                 s.training.batch_samples = 1'048'577;
                 s.training.micro_batch_samples = 1;
               }},
        Broken{"training.batch_samples: is 100000, and a trainer computes at "
               "most 65536 rows at once; lower it, or set "
               "training.micro_batch_samples to what fits in memory",
               [](JobSpec& s) { s.training.batch_samples = 100'000; }},
        Broken{"training.micro_batch_samples: has to be 1 to 65536, not 0; it "
               "is the number of rows computed at once",
               [](JobSpec& s) { s.training.micro_batch_samples = 0; }},
        Broken{"training.micro_batch_samples: is 5, above "
               "training.batch_samples, which is 4; lower it, or leave it out",
               [](JobSpec& s) { s.training.micro_batch_samples = 5; }},
        Broken{"training.tau: has to be 1 to 1048576, not 0; it is the number "
               "of inner steps in a round",
               [](JobSpec& s) { s.training.tau = 0; }},
        Broken{"training.learning_rate: has to be in (0, 10] as fp32, not 0",
               [](JobSpec& s) { s.training.learning_rate = 0; }},
        Broken{"training.learning_rate: has to be in (0, 10] as fp32, not "
               "1e-60",
               [](JobSpec& s) { s.training.learning_rate = 1e-60; }},
        Broken{"training.beta1: has to be in (0, 1) as fp32, not 0",
               [](JobSpec& s) { s.training.beta1 = 0; }},
        Broken{"training.beta2: has to be in (0, 1) as fp32, not 1",
               [](JobSpec& s) { s.training.beta2 = 1 - 1e-12; }},
        Broken{"training.epsilon: has to be in (0, 1] as fp32, not 0",
               [](JobSpec& s) { s.training.epsilon = 0; }},
        Broken{"training.evaluate_every: has to be 1 to 1073741824, not 0; it "
               "counts sequences",
               [](JobSpec& s) { s.training.evaluate_every = 0; }},
        Broken{"training.evaluate_samples: has to be 1 to 1073741824, not 0",
               [](JobSpec& s) { s.training.evaluate_samples = 0; }},
        Broken{"exchange.quorum: has to be in (0, 1]: a share of the replicas, "
               "not 0",
               [](JobSpec& s) { s.exchange.quorum = 0; }},
        Broken{"exchange.min_replicas: has to be 1 to 1024, not 0",
               [](JobSpec& s) { s.exchange.min_replicas = 0; }},
        Broken{"exchange.carry: has to be 0 to 64, not 65; it counts sequences",
               [](JobSpec& s) { s.exchange.carry = 65; }},
        Broken{"exchange.spans: has to be 1 to 4096, not 4097",
               [](JobSpec& s) { s.exchange.spans = 4097; }},
        Broken{"exchange.fragments: has to be 1 to 64, not 0",
               [](JobSpec& s) { s.exchange.fragments = 0; }},
        Broken{"outer.learning_rate: has to be in (0, 2], not 0",
               [](JobSpec& s) { s.outer.learning_rate = 0; }},
        Broken{"outer.staleness_penalty: has to be at least 1, not 0.5",
               [](JobSpec& s) { s.outer.staleness_penalty = 0.5; }},
        Broken{"outer.undelayed_fraction: has to be in [0, 1], not 2",
               [](JobSpec& s) { s.outer.undelayed_fraction = 2; }}));

// One row for each setting that DaSGD refuses: outside a bound, or of another
// method.
class DaSgdTest : public testing::TestWithParam<Broken> {};

TEST_P(DaSgdTest, RefusesWithReasonAndCure) {
  JobSpec spec = SmallJob("job", 100);
  spec.outer.method = OuterMethod::kDaSgd;
  ASSERT_TRUE(ReviewWork(spec).ok()) << ReviewWork(spec).status();
  GetParam().change(spec);
  EXPECT_EQ(ReviewWork(spec).status().message(), GetParam().message);
}

constexpr char kKeepsTheMean[] =
    "outer: outer optimizer: this merge rule keeps the anchor at the mean of "
    "the replicas, so it takes no momentum, clip or penalty";

INSTANTIATE_TEST_SUITE_P(
    Settings, DaSgdTest,
    testing::Values(
        Broken{"outer.mix: has to be in [0.05, 0.95]: at 0 a round leaves "
               "nothing, and at 1 replicas never come together, not 0",
               [](JobSpec& s) { s.outer.mix = s.outer.learning_rate = 0; }},
        Broken{"outer: outer optimizer: this merge rule needs learning_rate "
               "0.25, which is its mix; leave learning_rate out "
               "(docs/outer_loop.md)",
               [](JobSpec& s) { s.outer.learning_rate = 0.7; }},
        Broken{kKeepsTheMean, [](JobSpec& s) { s.outer.momentum = 0.5; }},
        Broken{kKeepsTheMean, [](JobSpec& s) { s.outer.clip = 0.1; }},
        Broken{kKeepsTheMean,
               [](JobSpec& s) { s.outer.staleness_penalty = 2; }},
        Broken{"outer.own_share: has a meaning only with method late",
               [](JobSpec& s) { s.outer.own_share = 0.5; }},
        Broken{"outer.mix: has a meaning only with method dasgd",
               [](JobSpec& s) {
                 s.outer.method = OuterMethod::kCo2;
                 s.outer.mix = 0.5;
                 s.outer.learning_rate = 0.5;
               }}));

TEST(ReviewWorkTest, ALargeBatchGoesWithASmallMicroBatch) {
  JobSpec spec = SmallJob("job", 100);
  spec.training.batch_samples = 100'000;
  spec.training.micro_batch_samples = 8;
  EXPECT_TRUE(ReviewWork(spec).ok()) << ReviewWork(spec).status();
}

TEST(ReviewWorkTest, ZeroIsHonouredWhereItHasAMeaning) {
  JobSpec spec = SmallJob("job", 100);
  spec.training.weight_decay = 0;
  spec.training.warmup_fraction = 0;
  spec.training.min_learning_rate_ratio = 0;
  spec.training.clip_norm = 0;
  spec.exchange.carry = 0;
  spec.outer.beta = 0;
  const auto work = ReviewWork(spec);
  ASSERT_TRUE(work.ok()) << work.status();
  EXPECT_EQ(work->training.weight_decay, 0.0);
  EXPECT_EQ(work->training.warmup_fraction, 0.0);
  EXPECT_EQ(work->exchange.carry, 0u);
  EXPECT_EQ(work->outer.beta, 0.0);
}

}  // namespace
}  // namespace skerry::job
