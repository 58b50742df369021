#include "worker/daemon/worker_metrics.h"

#include <set>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace skerry::worker {
namespace {

using runtime::Metric;

WorkerFacts Example() {
  WorkerFacts facts;
  facts.status.release = "1.2.3";
  facts.connected = true;
  facts.sessions_lost = 2;
  facts.job_names[7] = "bible";
  protocol::JobFacts& job = facts.status.jobs.emplace_back();
  job.job = JobId(7);
  job.state = protocol::SeatState::kActive;
  job.fragments.emplace_back().applied = Sequence(41);
  job.counters.samples = 960;
  job.counters.stall_s = 1.5;
  job.counters.trainer_restarts = 3;
  job.links = {{"east0", 2e6}};
  protocol::JobFacts& failed = facts.status.jobs.emplace_back();
  failed.job = JobId(9);
  failed.state = protocol::SeatState::kFailed;
  return facts;
}

// Returns the value of the metric's sample whose label values are `labels`.
double ValueOf(const std::string& name, const std::set<std::string>& labels) {
  for (const Metric& metric : MetricsOf(Example())) {
    if (metric.name != name) continue;
    for (const runtime::Sample& sample : metric.samples) {
      std::set<std::string> found;
      for (const auto& [label, value] : sample.labels) found.insert(value);
      if (found == labels) return sample.value;
    }
  }
  ADD_FAILURE() << name << " is missing";
  return 0;
}

TEST(WorkerMetricsTest, NamesSayUnitAndKind) {
  std::set<std::string> names;
  for (const Metric& metric : MetricsOf(Example())) {
    SCOPED_TRACE(metric.name);
    EXPECT_TRUE(names.insert(metric.name).second);
    EXPECT_TRUE(absl::StartsWith(metric.name, "skerry_"));
    EXPECT_EQ(absl::EndsWith(metric.name, "_total"),
              metric.kind == Metric::Kind::kCounter);
    EXPECT_FALSE(metric.help.empty());
  }
}

TEST(WorkerMetricsTest, TheNumbersAreThoseOfTheStatus) {
  EXPECT_EQ(ValueOf("skerry_build_info", {"1.2.3"}), 1);
  EXPECT_EQ(ValueOf("skerry_worker_connected", {}), 1);
  EXPECT_EQ(ValueOf("skerry_worker_sessions_lost_total", {}), 2);
  EXPECT_EQ(ValueOf("skerry_worker_seats", {"active"}), 1);
  EXPECT_EQ(ValueOf("skerry_worker_seats", {"failed"}), 1);
  EXPECT_EQ(ValueOf("skerry_worker_seats", {"starting"}), 0);
  EXPECT_EQ(ValueOf("skerry_worker_applied_sequence", {"bible", "7"}), 41);
  EXPECT_EQ(ValueOf("skerry_worker_samples_total", {"bible", "7"}), 960);
  EXPECT_EQ(ValueOf("skerry_worker_stall_seconds_total", {"bible", "7"}), 1.5);
  EXPECT_EQ(ValueOf("skerry_worker_trainer_restarts_total", {"bible", "7"}), 3);
  EXPECT_EQ(
      ValueOf("skerry_worker_link_bytes_per_second", {"bible", "7", "east0"}),
      2e6);
}

TEST(WorkerMetricsTest, AJobThatCannotBeServedHasNoName) {
  EXPECT_EQ(ValueOf("skerry_worker_applied_sequence", {"", "9"}), 0);
}

}  // namespace
}  // namespace skerry::worker
