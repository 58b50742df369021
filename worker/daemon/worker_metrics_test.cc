#include "worker/daemon/worker_metrics.h"

#include <set>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace skerry::worker {
namespace {

using runtime::Metric;

WorkerFacts Example() {
  WorkerFacts facts;
  facts.status.set_release("1.2.3");
  facts.connected = true;
  facts.sessions_lost = 2;
  facts.job_names[7] = "bible";
  v1::JobStatus* job = facts.status.add_jobs();
  job->set_job(7);
  job->set_state(v1::SEAT_STATE_ACTIVE);
  job->add_fragments()->set_applied(41);
  job->mutable_counters()->set_samples(960);
  job->mutable_counters()->set_stall_s(1.5);
  job->mutable_counters()->set_trainer_restarts(3);
  v1::PeerLink* link = job->add_links();
  link->set_address("127.0.0.1:9");
  link->set_bytes_per_s(2e6);
  v1::JobStatus* failed = facts.status.add_jobs();
  failed->set_job(9);
  failed->set_state(v1::SEAT_STATE_FAILED);
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
  EXPECT_EQ(ValueOf("skerry_worker_link_bytes_per_second",
                    {"bible", "7", "127.0.0.1:9"}),
            2e6);
}

TEST(WorkerMetricsTest, AJobThatCannotBeServedHasNoName) {
  EXPECT_EQ(ValueOf("skerry_worker_applied_sequence", {"", "9"}), 0);
}

}  // namespace
}  // namespace skerry::worker
