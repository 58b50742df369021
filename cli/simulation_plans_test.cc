#include "cli/simulation_plans.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "job/testing/specs.h"

namespace skerry::cli {
namespace {

using ::testing::HasSubstr;

v1::JobSpec Job() {
  v1::JobSpec job;
  job.set_name("job");
  job.mutable_model()->set_config_json(job::kTinyConfig);
  job.mutable_data()->set_path("/data");
  job.mutable_data()->set_manifest_sha256(std::string(64, 'a'));
  job.mutable_training()->set_samples(1000);
  job.mutable_training()->set_batch_samples(4);
  job.mutable_outer()->set_method(v1::JobSpec::OUTER_METHOD_CO2);
  return job;
}

TEST(SimulationPlansTest, WithoutListsThereIsOneAsTheJobSays) {
  const auto plans = ListPlans(Job(), {}, 3);
  ASSERT_TRUE(plans.ok()) << plans.status();
  ASSERT_EQ(plans->size(), 1);
  EXPECT_EQ((*plans)[0].name, "tau 12, int8_block, co2, 3 islands");
  EXPECT_EQ((*plans)[0].spec.training.tau, 12);
  EXPECT_EQ((*plans)[0].islands, 3);
}

TEST(SimulationPlansTest, EveryCombinationOnceInOrder) {
  const auto plans = ListPlans(Job(),
                               {.taus = {6, 24},
                                .codecs = {"bf16", "nf4"},
                                .methods = {"local_sgd"},
                                .islands = {1, 2}},
                               2);
  ASSERT_TRUE(plans.ok()) << plans.status();
  std::vector<std::string> names;
  for (const SimulationPlan& plan : *plans) names.push_back(plan.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"tau 6, bf16, local_sgd, 1 island",
                                      "tau 24, bf16, local_sgd, 1 island",
                                      "tau 6, nf4, local_sgd, 1 island",
                                      "tau 24, nf4, local_sgd, 1 island",
                                      "tau 6, bf16, local_sgd, 2 islands",
                                      "tau 24, bf16, local_sgd, 2 islands",
                                      "tau 6, nf4, local_sgd, 2 islands",
                                      "tau 24, nf4, local_sgd, 2 islands"}));
  EXPECT_EQ((*plans)[2].spec.exchange.codec, "nf4");
  EXPECT_EQ((*plans)[1].spec.training.tau, 24);
}

TEST(SimulationPlansTest, WhatNoCoordinatorTakesIsNamed) {
  const auto error = [](const PlanLists& lists) {
    const auto plans = ListPlans(Job(), lists, 2);
    EXPECT_TRUE(absl::IsInvalidArgument(plans.status()));
    return std::string(plans.status().message());
  };
  EXPECT_THAT(error({.codecs = {"bf16", "int9"}}),
              HasSubstr("int9, co2, 2 islands: "));
  EXPECT_THAT(error({.methods = {"dilco"}}),
              HasSubstr("--method: has to be one of"));
  EXPECT_THAT(error({.islands = {3}}), HasSubstr("the cluster has 2"));
  EXPECT_THAT(error({.islands = {0}}), HasSubstr("the cluster has 2"));
  EXPECT_THAT(error({.taus = std::vector<uint32_t>(300, 12)}),
              HasSubstr("300 plans, at most 256"));
}

}  // namespace
}  // namespace skerry::cli
