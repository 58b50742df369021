#include "coordinator/convert/page.h"

#include <set>
#include <string>

#include "gtest/gtest.h"
#include "job/testing/specs.h"
#include "nlohmann/json.hpp"

namespace skerry::coordinator {
namespace {

Instant At(double seconds) { return Instant(absl::Seconds(seconds)); }

JobView Job(uint64_t id, uint64_t losses) {
  JobView job;
  job.id = JobId(id);
  job.spec = job::SmallJob("job", 1000);
  job.phase = JobPhase::kRunning;
  job.reason = "2 replica(s) compute";
  job.age = absl::Seconds(3);
  for (uint64_t sequence = 1; sequence <= losses; ++sequence) {
    job.losses.push_back({Sequence(sequence), sequence * 8, 3.0, std::nullopt});
  }
  SeatView seat;
  seat.worker = "w0";
  seat.state = "active";
  seat.anchor_hashes = {1, 2, 3};
  job.replicas.push_back({ReplicaId(1), Life(4), "north", {seat}, false});
  return job;
}

WorkerView Worker(const std::string& name, const std::string& island) {
  WorkerView worker;
  worker.worker = name;
  worker.island = island;
  worker.state = "connected";
  worker.silence = absl::Milliseconds(700);
  worker.machine.unix_ms = 12345;
  return worker;
}

nlohmann::json Since(const ChangeLog& log, uint64_t tick, Instant now) {
  return nlohmann::json::parse("{" + log.Since(tick, now) + "}");
}

// The lists of a job merged as a reader does it.
nlohmann::json MergedJob(const nlohmann::json& news) {
  nlohmann::json merged = {{"losses", nlohmann::json::array()}};
  for (const auto& part : news["jobs"]) {
    for (const auto& [name, value] : part.items()) {
      if (name == "losses") {
        merged[name].insert(merged[name].end(), value.begin(), value.end());
      } else {
        merged[name] = value;
      }
    }
  }
  return merged;
}

TEST(PageTest, TheFieldsAreThoseOfTheApi) {
  ChangeLog log;
  PageFacts facts;
  facts.now = At(10);
  facts.jobs = {Job(3, 2)};
  facts.workers = {Worker("w0", "north")};
  facts.events = {{{Revision(7), JobId(3), "Committed", "exchange 1"}, At(8)}};
  PutViews(facts, true, log);
  const nlohmann::json news = Since(log, 0, At(10));
  EXPECT_EQ(news["whole"], true);
  const nlohmann::json job = MergedJob(news);
  EXPECT_EQ(job["id"], "3");
  EXPECT_EQ(job["spec"]["name"], "job");
  EXPECT_EQ(job["phase"], "JOB_PHASE_RUNNING");
  EXPECT_EQ(job["reason"], "2 replica(s) compute");
  EXPECT_EQ(job["age_ms"], "3000");
  EXPECT_EQ(job["losses"].size(), 2u);
  EXPECT_EQ(job["losses"][1]["samples"], "16");
  EXPECT_EQ(job["replicas"][0]["seats"][0]["worker"], "w0");
  EXPECT_FALSE(job["replicas"][0]["seats"][0].contains("anchor_hashes"));
  EXPECT_FALSE(job["spec"]["model"].contains("config_json"));
  EXPECT_EQ(news["workers"][0]["worker"], "w0");
  EXPECT_EQ(news["workers"][0]["silence_ms"], "700");
  EXPECT_EQ(news["events"][0]["message"], "exchange 1");
  EXPECT_EQ(news["events"][0]["routine"], true);
  EXPECT_EQ(news["events"][0]["age_ms"], "2000");
}

TEST(PageTest, TimeAloneIsNoNews) {
  ChangeLog log;
  PageFacts facts;
  facts.now = At(10);
  facts.jobs = {Job(3, 2)};
  facts.workers = {Worker("w0", "north")};
  PutViews(facts, true, log);
  const uint64_t tick = log.tick();
  facts.now = At(11);
  facts.jobs[0].age = absl::Seconds(4);
  facts.workers[0].silence = absl::Milliseconds(100);
  facts.workers[0].machine.unix_ms = 13345;
  facts.workers[0].machine.clock_ahead_ms = 3;
  PutViews(facts, true, log);
  EXPECT_EQ(log.Since(tick, At(11)), "");
}

TEST(PageTest, ACommitSendsItsOwnBlockOfLosses) {
  ChangeLog log;
  PageFacts facts;
  facts.now = At(10);
  facts.jobs = {Job(3, 200)};
  PutViews(facts, true, log);
  const uint64_t tick = log.tick();
  facts.now = At(20);
  facts.jobs = {Job(3, 201)};
  PutViews(facts, true, log);
  const nlohmann::json job = MergedJob(Since(log, tick, At(20)));
  EXPECT_LT(job["losses"].size(), 64u);
  EXPECT_EQ(job["losses"].back()["sequence"], "201");
}

TEST(PageTest, ManyLossesAreThinnedAndValidationsAreNot) {
  ChangeLog log;
  PageFacts facts;
  facts.now = At(10);
  facts.jobs = {Job(3, 50'000)};
  for (size_t i = 0; i < 50'000; i += 1111) {
    facts.jobs[0].losses[i].validation_loss = 2.5;
  }
  PutViews(facts, true, log);
  const nlohmann::json job = MergedJob(Since(log, 0, At(10)));
  EXPECT_LT(job["losses"].size(), 1200u);
  EXPECT_GT(job["losses"].size(), 500u);
  std::set<std::string> sequences;
  size_t validated = 0;
  for (const auto& point : job["losses"]) {
    sequences.insert(point["sequence"]);
    validated += point.contains("validation_loss") ? 1 : 0;
  }
  EXPECT_EQ(validated, 46u);
  EXPECT_TRUE(sequences.contains("50000"));
}

TEST(PageTest, EndedJobsAreLookedAtInThoroughTurns) {
  ChangeLog log;
  PageFacts facts;
  facts.now = At(10);
  facts.jobs = {Job(3, 2)};
  facts.jobs[0].phase = JobPhase::kSucceeded;
  PutViews(facts, true, log);
  const uint64_t tick = log.tick();
  facts.now = At(12);
  facts.jobs[0].reason = "other words";
  PutViews(facts, false, log);
  EXPECT_EQ(log.Since(tick, At(12)), "");
  PutViews(facts, true, log);
  EXPECT_EQ(MergedJob(Since(log, tick, At(12)))["reason"], "other words");
}

TEST(PageTest, AWorkersLinksAreTheSlowestToEachIsland) {
  ChangeLog log;
  PageFacts facts;
  facts.now = At(10);
  facts.workers = {Worker("a0", "a"), Worker("b0", "b"), Worker("b1", "b"),
                   Worker("c0", "c")};
  facts.workers[0].links = {
      {"b0", 500, 0.1}, {"b1", 300, 0.2}, {"c0", 200, 0.3}, {"gone", 1, 0.4}};
  PutViews(facts, true, log);
  const nlohmann::json workers = Since(log, 0, At(10))["workers"];
  ASSERT_EQ(workers.size(), 5u);
  EXPECT_EQ(workers[1]["worker"], "a0");
  ASSERT_EQ(workers[1]["links"].size(), 2u);
  EXPECT_EQ(workers[1]["links"][0]["worker"], "c0");
  EXPECT_EQ(workers[1]["links"][1]["worker"], "b1");
  // New rates rest for a while.
  const uint64_t tick = log.tick();
  facts.workers[0].links[2].bytes_per_s = 250;
  facts.now = At(15);
  PutViews(facts, true, log);
  EXPECT_EQ(log.Since(tick, At(15)), "");
  facts.now = At(20);
  PutViews(facts, true, log);
  EXPECT_NE(log.Since(tick, At(20)), "");
}

}  // namespace
}  // namespace skerry::coordinator
