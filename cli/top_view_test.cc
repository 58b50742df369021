#include "cli/top_view.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

v1::ListJobsReply Job(uint64_t age_ms, uint64_t samples, double compute_s,
                      double stall_s) {
  v1::ListJobsReply jobs;
  v1::JobView* job = jobs.add_jobs();
  job->set_id(3);
  job->mutable_spec()->set_name("bible");
  job->set_phase(v1::JOB_PHASE_RUNNING);
  job->set_age_ms(age_ms);
  job->set_samples_committed(samples);
  job->set_samples_total(2000);
  job->set_tokens_per_sample(10);
  job->mutable_counters()->set_compute_s(compute_s);
  job->mutable_counters()->set_stall_s(stall_s);
  job->mutable_counters()->set_tokens_per_s(55);
  return jobs;
}

TEST(TopViewTest, SpeedsAreThoseSinceTheLastLook) {
  TopView view;
  const v1::ListWorkersReply workers;
  EXPECT_THAT(view.Text(Job(10'000, 500, 100, 25), workers),
              testing::AllOf(HasSubstr("  55 "), HasSubstr("20.0%")));
  // 500 samples of 10 tokens in 2 s; 1 of 10 worker seconds stalled.
  const std::string text = view.Text(Job(12'000, 1000, 109, 26), workers);
  EXPECT_THAT(text, HasSubstr("2500"));
  EXPECT_THAT(text, HasSubstr("10.0%"));
  // 1000 samples are left at 250 a second.
  EXPECT_THAT(text, HasSubstr("4s\n"));
}

TEST(TopViewTest, ARestartedCoordinatorBeginsAnew) {
  TopView view;
  view.Text(Job(10'000, 500, 100, 25), {});
  EXPECT_THAT(view.Text(Job(1'000, 500, 1, 0), {}), HasSubstr("  55 "));
}

TEST(TopViewTest, FinishedJobsAreOnlyCounted) {
  v1::ListJobsReply jobs = Job(1000, 2000, 1, 0);
  jobs.mutable_jobs(0)->set_phase(v1::JOB_PHASE_SUCCEEDED);
  v1::ListWorkersReply workers;
  workers.add_workers()->set_worker("east0");
  workers.mutable_workers(0)->set_state("drained");
  TopView view;
  const std::string text = view.Text(jobs, workers);
  EXPECT_THAT(text, HasSubstr("0 of 1 jobs unfinished, 1 workers, 1 drained"));
  EXPECT_THAT(text, Not(HasSubstr("bible")));
  EXPECT_THAT(text, HasSubstr("east0"));
}

TEST(TopViewTest, AProgramsSpeedIsInSamples) {
  v1::ListJobsReply jobs = Job(10'000, 500, 100, 25);
  v1::JobView* job = jobs.mutable_jobs(0);
  job->mutable_spec()->mutable_model()->mutable_program()->set_name("resnet");
  job->set_tokens_per_sample(0);
  job->mutable_counters()->set_tokens_per_s(0);
  job->mutable_counters()->set_samples_per_s(50);
  TopView view;
  EXPECT_THAT(view.Text(jobs, {}), testing::AllOf(HasSubstr("  50 samples/s  "),
                                                  HasSubstr("30s\n")));
}

}  // namespace
}  // namespace skerry::cli
