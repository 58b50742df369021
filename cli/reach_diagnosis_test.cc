#include "cli/reach_diagnosis.h"

#include <gtest/gtest.h>

#include <string>

namespace skerry::cli {
namespace {

using Verdict = Check::Verdict;

class ReachDiagnosisTest : public testing::Test {
 protected:
  v1::WorkerView& Worker(const std::string& name) {
    v1::WorkerView& worker = *workers_.add_workers();
    worker.set_worker(name);
    worker.set_state("connected");
    return worker;
  }
  static void Tried(v1::WorkerView& worker, const std::string& by,
                    const std::string& island, double ms,
                    const std::string& error = "") {
    v1::TriedBy& tried = *worker.add_tried_by();
    tried.set_worker(by);
    tried.set_island(island);
    tried.set_round_trip_ms(ms);
    tried.set_error(error);
  }
  v1::ListWorkersReply workers_;
};

TEST_F(ReachDiagnosisTest, WhoIsReachedByAllIsWell) {
  v1::WorkerView& worker = Worker("b1");
  EXPECT_EQ(TriedText(worker), "");
  EXPECT_TRUE(DiagnoseReach(workers_).empty());
  Tried(worker, "a1", "west", 12.14);
  Tried(worker, "a2", "west", 30);
  EXPECT_EQ(TriedText(worker), "2 of 2, 12.1 ms");
  EXPECT_TRUE(IsReachedByAny(worker));
  const auto checks = DiagnoseReach(workers_);
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_EQ(checks[0].verdict, Verdict::kOk);
}

TEST_F(ReachDiagnosisTest, AFoundOneIsNamedWithWhatIsDone) {
  v1::WorkerView& worker = Worker("b1");
  Tried(worker, "a1", "west", 0, "10.0.0.1:7444: Connection refused");
  worker.set_found_hidden(true);
  EXPECT_EQ(TriedText(worker), "0 of 1");
  EXPECT_FALSE(IsReachedByAny(worker));
  const auto checks = DiagnoseReach(workers_);
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_EQ(checks[0].verdict, Verdict::kWarning);
  EXPECT_EQ(checks[0].about, "worker b1");
  EXPECT_EQ(checks[0].text,
            "it is not reachable from island west (a1: 10.0.0.1:7444: "
            "Connection refused): it opens the connections itself, so nothing "
            "has to be done; with --outbound-only it would from its start");
}

TEST_F(ReachDiagnosisTest, AnIslandOneOfWhoseWorkersReachesItIsNotNamed) {
  v1::WorkerView& worker = Worker("b1");
  Tried(worker, "a1", "west", 0, "no answer within 5s");
  Tried(worker, "a2", "west", 3);
  EXPECT_EQ(DiagnoseReach(workers_)[0].verdict, Verdict::kOk);
  Tried(worker, "c1", "east", 0, "no answer within 5s");
  const auto checks = DiagnoseReach(workers_);
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_EQ(checks[0].verdict, Verdict::kWarning);
  EXPECT_NE(checks[0].text.find("island east (c1: no answer within 5s)"),
            std::string::npos);
  EXPECT_EQ(checks[0].text.find("west"), std::string::npos);
}

TEST_F(ReachDiagnosisTest, WhomNobodyReachesAndWhoReachesNobodyIsAProblem) {
  v1::WorkerView& worker = Worker("b1");
  Tried(worker, "a1", "west", 0, "no answer within 5s");
  const auto checks = DiagnoseReach(workers_);
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_EQ(checks[0].verdict, Verdict::kProblem);
  EXPECT_NE(checks[0].text.find("--relay"), std::string::npos);
  worker.set_state("lost");
  EXPECT_TRUE(DiagnoseReach(workers_).empty());
}

}  // namespace
}  // namespace skerry::cli
