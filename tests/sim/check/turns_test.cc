// Histories in which an operator is not obeyed, or a job does not wait for its
// turn.
#include "tests/sim/check/turns.h"

#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::sim {
namespace {

using coordinator::Granted;
using coordinator::JobEnded;
using coordinator::JobPaused;
using coordinator::JobSubmitted;
using coordinator::Record;
using coordinator::ReplicaAdmitted;
using coordinator::WorkerIntent;
using coordinator::WorkerMarked;
using protocol::JobPhase;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class TurnCheckerTest : public testing::Test {
 protected:
  uint64_t Add(Record record) {
    checker_.OnDurable({Revision(++index_), std::move(record)});
    return index_;
  }
  JobId Submit(int32_t priority) {
    JobSubmitted submitted;
    submitted.spec.queue.priority = priority;
    return JobId(Add(submitted));
  }
  void Admit(JobId job, const std::string& island) {
    protocol::SpanHolder holder;
    holder.peer.worker = "w-" + island;
    Add(ReplicaAdmitted{job, ReplicaId(1), island, {holder}, {}});
  }

  Violations found_;
  TurnChecker checker_{found_, 1};
  uint64_t index_ = 0;
};

TEST_F(TurnCheckerTest, AJobThatHasBegunComesFirst) {
  const JobId low = Submit(0);
  Admit(low, "a");
  const JobId high = Submit(10);
  Admit(low, "a");
  EXPECT_THAT(found_.first(), IsEmpty());
  Add(JobEnded{low, JobPhase::kSucceeded, ""});
  Admit(high, "a");
  EXPECT_THAT(found_.first(), IsEmpty());
}

TEST_F(TurnCheckerTest, AnIslandTakesNoMoreThanItMay) {
  const JobId one = Submit(0);
  const JobId two = Submit(0);
  Admit(one, "a");
  Admit(two, "a");
  EXPECT_THAT(found_.first(), testing::Contains(HasSubstr("2 jobs share")));
}

TEST_F(TurnCheckerTest, NoJobOvertakes) {
  const JobId low = Submit(0);
  Submit(10);
  Admit(low, "a");
  EXPECT_THAT(found_.first(), ElementsAre(HasSubstr("whose turn it is")));
}

TEST_F(TurnCheckerTest, AHeldJobGetsNoSamples) {
  const JobId job = Submit(0);
  Add(JobPaused{job, true});
  Add(JobPaused{job, false});
  Add(Granted{job, Life(1), {{0, 1}}});
  EXPECT_THAT(found_.first(), IsEmpty());
  Add(JobPaused{job, true});
  Add(Granted{job, Life(1), {{1, 2}}});
  EXPECT_THAT(found_.first(), ElementsAre(HasSubstr("is held")));
}

TEST_F(TurnCheckerTest, AMarkedWorkerJoinsNoLife) {
  const JobId job = Submit(0);
  Add(WorkerMarked{"w-a", WorkerIntent::kCordon});
  Add(WorkerMarked{"w-a", WorkerIntent::kServe});
  Admit(job, "a");
  EXPECT_THAT(found_.first(), IsEmpty());
  Add(WorkerMarked{"w-a", WorkerIntent::kDrain});
  Admit(job, "a");
  EXPECT_THAT(found_.first(), ElementsAre(HasSubstr("is not to serve")));
}

TEST_F(TurnCheckerTest, AnEarlierJournalKnowsLess) {
  const JobId low = Submit(0);
  Submit(10);
  checker_.OnJournalReplaced(Revision(1));
  Admit(low, "a");
  EXPECT_THAT(found_.first(), IsEmpty());
}

}  // namespace
}  // namespace skerry::sim
