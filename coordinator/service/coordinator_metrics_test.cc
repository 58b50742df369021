#include "coordinator/service/coordinator_metrics.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "coordinator/core/views/views.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "simulator/coordinator_node.h"
#include "tests/sim/fault_table.h"

namespace skerry::coordinator {
namespace {

using runtime::Metric;

const std::vector<Metric>& OfAFinishedJob() {
  static const auto* const metrics = [] {
    sim::Schedule schedule = sim::Calm({"a", "b"});
    schedule.jobs[0].samples = 500;
    sim::Watcher watcher;
    sim::FaultyWorld world(schedule, watcher, 0);
    world.RunUntil(Instant(schedule.calm_at));
    EXPECT_THAT(watcher.violations.first(), testing::IsEmpty());
    ShellFacts shell;
    shell.batches = 7;
    shell.syncing = absl::Milliseconds(250);
    shell.rounds[JobId(1)] = {Instant(), absl::Seconds(3)};
    std::vector<Metric>* made = nullptr;
    world.coordinator_node()->shell().Look(
        [&](const Cluster& cluster, Instant now) {
          made = new std::vector<Metric>(MetricsOf(cluster, now, shell));
        });
    while (made == nullptr) world.timeline.RunNext();
    return made;
  }();
  return *metrics;
}

const Metric& Find(const std::string& name) {
  for (const Metric& metric : OfAFinishedJob()) {
    if (metric.name == name) return metric;
  }
  ADD_FAILURE() << name << " is missing";
  return OfAFinishedJob().front();
}

double ValueOf(const std::string& name, const std::string& label = "") {
  for (const runtime::Sample& sample : Find(name).samples) {
    if (label.empty() || sample.labels.front().second == label) {
      return sample.value;
    }
  }
  ADD_FAILURE() << name << " has no sample " << label;
  return 0;
}

TEST(CoordinatorMetricsTest, NamesSayUnitAndKind) {
  std::set<std::string> names;
  for (const Metric& metric : OfAFinishedJob()) {
    SCOPED_TRACE(metric.name);
    EXPECT_TRUE(names.insert(metric.name).second);
    EXPECT_TRUE(absl::StartsWith(metric.name, "skerry_"));
    EXPECT_EQ(absl::EndsWith(metric.name, "_total"),
              metric.kind == Metric::Kind::kCounter);
    EXPECT_FALSE(metric.help.empty());
  }
}

TEST(CoordinatorMetricsTest, AJobsNumbersAreThoseOfItsView) {
  EXPECT_EQ(ValueOf("skerry_jobs", "succeeded"), 1);
  EXPECT_EQ(ValueOf("skerry_jobs", "running"), 0);
  EXPECT_EQ(ValueOf("skerry_workers", "connected"), 2);
  EXPECT_EQ(ValueOf("skerry_job_samples", "job-0"), 500);
  EXPECT_EQ(ValueOf("skerry_job_committed_samples_total", "job-0"), 500);
  EXPECT_GT(ValueOf("skerry_job_commits_total", "job-0"), 5);
  EXPECT_GE(ValueOf("skerry_job_attempts_total", "job-0"),
            ValueOf("skerry_job_commits_total", "job-0"));
  EXPECT_EQ(ValueOf("skerry_job_lives_total", "job-0"), 2);
  EXPECT_GT(ValueOf("skerry_job_training_loss", "job-0"), 0);
  EXPECT_GT(ValueOf("skerry_job_own_share", "job-0"), 0);
  EXPECT_GE(ValueOf("skerry_job_late_steps", "job-0"), 0);
}

TEST(CoordinatorMetricsTest, AJobCountsInThePhaseThatItIsShownIn) {
  JobView runs;
  runs.phase = JobPhase::kRunning;
  JobView paused = runs;
  paused.paused = true;
  JobView diverged = paused;
  diverged.diverged = true;
  std::map<std::string, double> counts;
  for (const runtime::Sample& sample :
       JobCensus({runs, paused, diverged}).samples) {
    counts[sample.labels.front().second] = sample.value;
  }
  EXPECT_EQ(counts["running"], 1);
  EXPECT_EQ(counts["paused"], 1);
  EXPECT_EQ(counts["diverged"], 1);
  EXPECT_EQ(counts.size(), 7u);
}

TEST(CoordinatorMetricsTest, TheShellsCountsAreThere) {
  EXPECT_EQ(ValueOf("skerry_journal_batches_total"), 7);
  EXPECT_EQ(ValueOf("skerry_journal_sync_seconds_total"), 0.25);
}

TEST(CoordinatorMetricsTest, WhatTrainersReportIsThereByItsOwnName) {
  JobView job;
  job.id = JobId(4);
  job.spec.name = "vision";
  job.metrics = {{"accuracy", 0.5}, {"grad/norm", 3}};
  const Metric metric = TrainerMetrics({job, JobView()});
  EXPECT_EQ(metric.name, "skerry_trainer_metric");
  ASSERT_EQ(metric.samples.size(), 2u);
  EXPECT_EQ(metric.samples[1].labels,
            (std::vector<std::pair<std::string, std::string>>{
                {"job", "vision"}, {"id", "4"}, {"name", "grad/norm"}}));
  EXPECT_EQ(metric.samples[1].value, 3);
}

}  // namespace
}  // namespace skerry::coordinator
