#include "coordinator/core/rules/data_holders.h"

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/core/rules/job_orders.h"
#include "coordinator/core/rules/job_rules.h"
#include "coordinator/core/rules/membership.h"
#include "coordinator/core/testing/job_bench.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class DataHoldersTest : public testing::Test {
 protected:
  // A worker of the job that fetches data sets, unless it is an older one.
  void Add(const std::string& name, const std::string& island,
           bool fetches = true, bool outbound_only = false) {
    bench_.Emit(WorkerAdmitted{{name, name + ":1", "", outbound_only},
                               Boot(++counter_),
                               island,
                               "",
                               FolderId(1),
                               Boot(counter_)});
    StatusFacts status;
    status.self = bench_.workers.FindCurrent(name)->self;
    status.island = island;
    status.boot = bench_.workers.FindCurrent(name)->boot;
    status.counter = ++counter_;
    status.fetches_data = fetches;
    bench_.workers.Heard(status, bench_.now);
    bench_.Facts(name).has_data = false;
  }
  void Give(const std::string& name) { bench_.Facts(name).has_data = true; }
  std::vector<std::string> HoldersFor(const std::string& reader) {
    return DataHoldersFor(bench_.job, bench_.workers,
                          *bench_.workers.FindCurrent(reader));
  }

  JobBench bench_;
  uint64_t counter_ = 100;
};

TEST_F(DataHoldersTest, WhoLacksTheSetHearsOfThoseThatHaveIt) {
  Add("w0", "a");
  Add("w1", "b");
  Add("w2", "c");
  EXPECT_THAT(HoldersFor("w1"), IsEmpty());
  Give("w0");
  EXPECT_THAT(HoldersFor("w1"), ElementsAre("w0"));
  EXPECT_THAT(HoldersFor("w0"), IsEmpty());
  Give("w1");
  EXPECT_THAT(HoldersFor("w1"), IsEmpty());
  EXPECT_THAT(HoldersFor("w2"), SizeIs(2));
  bench_.job.places_stale = true;
  DecideMembership(bench_.job, bench_.decider());
  const auto orders =
      JobOrdersWriter(bench_.job, bench_.workers, bench_.options, bench_.now)
          .For("w2");
  ASSERT_TRUE(orders.has_value());
  EXPECT_EQ(orders->data_holders, HoldersFor("w2"));
}

TEST_F(DataHoldersTest, AnOlderWorkerIsToldOfNobody) {
  Add("w0", "a");
  Add("w1", "b", /*fetches=*/false);
  Give("w0");
  EXPECT_THAT(HoldersFor("w1"), IsEmpty());
}

TEST_F(DataHoldersTest, ItsOwnIslandComesFirstAndReadersBeginAtDifferentOnes) {
  std::set<std::string> first;
  for (int i = 0; i < 4; ++i) {
    Add(absl::StrCat("far", i), "a");
    Give(absl::StrCat("far", i));
  }
  Add("near", "b");
  Give("near");
  for (int i = 0; i < 12; ++i) {
    Add(absl::StrCat("b", i), "b");
    Add(absl::StrCat("c", i), "c");
    EXPECT_EQ(HoldersFor(absl::StrCat("b", i)).front(), "near");
    first.insert(HoldersFor(absl::StrCat("c", i)).front());
  }
  EXPECT_THAT(first, SizeIs(testing::Ge(3)));
}

TEST_F(DataHoldersTest, WhoCannotBeReachedIsNotNamed) {
  Add("w0", "a", true, /*outbound_only=*/true);
  Add("w1", "b", true, /*outbound_only=*/true);
  Give("w0");
  EXPECT_THAT(HoldersFor("w1"), IsEmpty());
}

TEST_F(DataHoldersTest, AProcessThatIsGoneHasNothing) {
  Add("w0", "a");
  Add("w1", "b");
  Give("w0");
  bench_.AddWorker("w0", "a");  // another process of that name
  EXPECT_THAT(HoldersFor("w1"), IsEmpty());
}

TEST_F(DataHoldersTest, TheOthersHearAtOnceThatAWorkerHasTheSet) {
  Add("w0", "a");
  Add("w1", "b");
  bench_.job.touched.clear();
  JobFacts facts = bench_.Facts("w0");
  facts.has_data = true;
  HearSeat(bench_.job, "w0", bench_.workers.FindCurrent("w0")->incarnation,
           &facts, bench_.options);
  EXPECT_THAT(bench_.job.touched, Contains("w1"));
  EXPECT_THAT(HoldersFor("w1"), ElementsAre("w0"));
}

}  // namespace
}  // namespace skerry::coordinator
