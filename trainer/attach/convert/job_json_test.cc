#include "trainer/attach/convert/job_json.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace skerry::trainer::attach {
namespace {

using ::testing::HasSubstr;

v1::JobSpec Job() {
  v1::JobSpec job;
  job.set_name("resnet");
  job.mutable_model()->set_seed(~uint64_t{0});
  job.mutable_model()->mutable_program()->set_parameters_json(
      R"({"width": 64})");
  job.mutable_data()->set_id("images");
  job.mutable_data()->set_seed(3);
  job.mutable_data()->set_samples(1000);
  job.mutable_training()->set_samples(5000);
  job.mutable_training()->set_batch_samples(8);
  return job;
}

TEST(JobJsonTest, SaysWhatThePageSays) {
  const auto text = JobJson(Job());
  ASSERT_TRUE(text.ok()) << text.status();
  const nlohmann::json expected = {{"name", "resnet"},
                                   {"parameters", {{"width", 64}}},
                                   {"seed", ~uint64_t{0}},
                                   {"data_seed", 3},
                                   {"data_id", "images"},
                                   {"data_samples", 1000},
                                   {"samples", 5000},
                                   {"batch_samples", 8},
                                   {"tau", 12}};
  EXPECT_EQ(nlohmann::json::parse(*text), expected);
}

TEST(JobJsonTest, NothingSaidIsAnEmptyObject) {
  v1::JobSpec job = Job();
  job.mutable_model()->mutable_program()->clear_parameters_json();
  job.mutable_training()->set_tau(5);
  EXPECT_THAT(*JobJson(job), HasSubstr(R"("parameters":{})"));
  EXPECT_THAT(*JobJson(job), HasSubstr(R"("tau":5)"));
}

TEST(JobJsonTest, WhatNoProgramCouldReadIsRefused) {
  v1::JobSpec job = Job();
  job.mutable_model()->mutable_program()->set_parameters_json("[1]");
  EXPECT_EQ(JobJson(job).status().message(),
            "model.program.parameters is not a JSON object");
  // Short numbers that are longer when they are written again.
  std::string numbers = "1";
  for (int i = 0; i < 15000; ++i) numbers += ",1e9";
  job.mutable_model()->mutable_program()->set_parameters_json(
      absl::StrCat(R"({"a": [)", numbers, "]}"));
  EXPECT_THAT(JobJson(job).status().message(), HasSubstr("at most 98304"));
  job.mutable_model()->clear_program();
  EXPECT_THAT(JobJson(job).status().message(),
              HasSubstr("the job has no model.program"));
}

}  // namespace
}  // namespace skerry::trainer::attach
