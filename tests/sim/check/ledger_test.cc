// Histories that no coordinator may write, one claim each.
#include "tests/sim/check/ledger.h"

#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "tests/sim/check/anchors.h"
#include "tests/sim/check/durable.h"

namespace skerry::sim {
namespace {

using coordinator::Checkpointed;
using coordinator::Committed;
using coordinator::Dropped;
using coordinator::Granted;
using coordinator::JobEnded;
using coordinator::JobSubmitted;
using coordinator::Opened;
using coordinator::Record;
using coordinator::ReplicaAdmitted;
using coordinator::ReplicaEnded;
using coordinator::Restored;
using protocol::Contribution;
using protocol::JobPhase;
using protocol::Member;

const JobId kJob(1);

class LedgerCheckerTest : public testing::Test {
 protected:
  LedgerCheckerTest() {
    JobSubmitted submitted;
    submitted.spec.training.samples = 100;
    submitted.spec.outer.method = job::OuterMethod::kLocalSgd;
    submitted.spec.exchange.carry = 1;
    Add(submitted);
    first_ = Life(Add(ReplicaAdmitted{kJob, ReplicaId(1), "a", {}, {}}));
    second_ = Life(Add(ReplicaAdmitted{kJob, ReplicaId(2), "b", {}, {}}));
    Add(Granted{kJob, first_, {{0, 10}}});
    Add(Granted{kJob, second_, {{10, 20}}});
  }

  uint64_t Add(Record record) {
    checker_.OnDurable({Revision(++index_), std::move(record)});
    return index_;
  }
  Member MemberOf(Life life, uint64_t replica, uint64_t begin, uint64_t end,
                  uint64_t round = 1, uint64_t base = 0) {
    const Contribution offer{Round(round),
                             Sequence(base),
                             static_cast<double>(end - begin),
                             data::RangeSet(data::SampleRange{begin, end}),
                             {}};
    return {ReplicaId(replica), life, offer, {}};
  }
  Attempt Open(uint64_t sequence, std::vector<Member> members) {
    Opened open;
    open.job = kJob;
    open.sequence = Sequence(sequence);
    open.members = members;
    open.owners = {0};
    for (const Member& member : members) {
      open.total_weight += member.contribution.weight;
    }
    return Attempt(Add(open));
  }
  void Commit(uint64_t sequence, Attempt attempt, double weight) {
    Add(Committed{kJob, {}, Sequence(sequence), attempt, {7}, weight, {}});
  }
  // Whether the one thing that was found says so.
  void ExpectFound(const std::string& what) {
    ASSERT_GE(found_.count(), 1u) << "nothing was found";
    EXPECT_NE(found_.first()[0].find(what), std::string::npos)
        << found_.first()[0];
  }

  Violations found_;
  LedgerChecker checker_{found_};
  uint64_t index_ = 0;
  Life first_;
  Life second_;
};

TEST_F(LedgerCheckerTest, AnHonestHistoryIsFine) {
  const Attempt attempt =
      Open(1, {MemberOf(first_, 1, 0, 10), MemberOf(second_, 2, 10, 20)});
  Add(ReplicaEnded{kJob, second_, "it died"});
  Commit(1, attempt, 20);
  Add(Granted{kJob, first_, {{20, 30}}});
  EXPECT_EQ(found_.count(), 0u) << found_.first()[0];
}

TEST_F(LedgerCheckerTest, AJobThatGoesBackTrainsOnItsSamplesAgain) {
  Commit(1, Open(1, {MemberOf(first_, 1, 0, 10)}), 10);
  Add(Checkpointed{kJob, Sequence(1), "w1", "abc", 1, "", {{0, 10}}});
  Commit(2, Open(2, {MemberOf(second_, 2, 10, 20)}), 10);
  Add(ReplicaEnded{kJob, first_, "it died"});
  Add(ReplicaEnded{kJob, second_, "it died"});
  Add(Restored{kJob, Sequence(3), Sequence(1), "all disks are gone"});
  const Life third(Add(ReplicaAdmitted{kJob, ReplicaId(1), "a", {}, {}}));
  Add(Granted{kJob, third, {{10, 20}}});
  Commit(4, Open(4, {MemberOf(third, 1, 10, 20, 1, 3)}), 10);
  EXPECT_EQ(found_.count(), 0u) << found_.first()[0];
}

TEST_F(LedgerCheckerTest, ACheckpointThatNamesOtherSamplesIsFound) {
  Commit(1, Open(1, {MemberOf(first_, 1, 0, 10)}), 10);
  Add(Checkpointed{kJob, Sequence(1), "w1", "abc", 1, "", {{0, 9}}});
  ExpectFound("names other samples");
}

TEST_F(LedgerCheckerTest, AJobThatGoesBackWhileItHasReplicasIsFound) {
  Commit(1, Open(1, {MemberOf(first_, 1, 0, 10)}), 10);
  Add(Checkpointed{kJob, Sequence(1), "w1", "abc", 1, "", {{0, 10}}});
  Add(Restored{kJob, Sequence(2), Sequence(1), ""});
  ExpectFound("with replicas goes back");
}

TEST_F(LedgerCheckerTest, ACheckpointThatNobodySavedIsFound) {
  Commit(1, Open(1, {MemberOf(first_, 1, 0, 10)}), 10);
  Add(Checkpointed{kJob, Sequence(1), "w1", "", 0, "no space", {}});
  Add(ReplicaEnded{kJob, first_, "it died"});
  Add(ReplicaEnded{kJob, second_, "it died"});
  Add(Restored{kJob, Sequence(2), Sequence(1), ""});
  ExpectFound("that was not saved");
}

TEST_F(LedgerCheckerTest, AGapInTheJournalIsFound) {
  ++index_;
  Add(Granted{kJob, first_, {{20, 30}}});
  ExpectFound("does not follow");
}

TEST_F(LedgerCheckerTest, ASecondLifeOfAReplicaIsFound) {
  Add(ReplicaAdmitted{kJob, ReplicaId(1), "a", {}, {}});
  ExpectFound("has life");
}

TEST_F(LedgerCheckerTest, SamplesThatAreGrantedTwiceAreFound) {
  Add(Granted{kJob, second_, {{5, 6}}});
  ExpectFound("are granted");
}

TEST_F(LedgerCheckerTest, SamplesOfTheOpenAttemptStayWithIt) {
  Open(1, {MemberOf(first_, 1, 0, 10)});
  Add(ReplicaEnded{kJob, first_, "it died"});
  Add(Granted{kJob, second_, {{0, 10}}});
  ExpectFound("the open attempt names");
}

TEST_F(LedgerCheckerTest, ACommitOfAnAttemptThatWasReplacedIsFound) {
  const Attempt old = Open(1, {MemberOf(first_, 1, 0, 10)});
  Open(1, {MemberOf(second_, 2, 10, 20)});
  Commit(1, old, 10);
  ExpectFound("not open");
}

TEST_F(LedgerCheckerTest, AContributionThatEntersTwiceIsFound) {
  Commit(1, Open(1, {MemberOf(first_, 1, 0, 10)}), 10);
  Open(2, {MemberOf(first_, 1, 0, 10)});
  ExpectFound("after its outcome");
}

TEST_F(LedgerCheckerTest, AMemberWhoseLifeIsOverIsFound) {
  Add(ReplicaEnded{kJob, first_, "it died"});
  Open(1, {MemberOf(first_, 1, 0, 10)});
  ExpectFound("its life is not current");
}

TEST_F(LedgerCheckerTest, AContributionThatChangesIsFound) {
  Open(1, {MemberOf(first_, 1, 0, 10)});
  Open(1, {MemberOf(first_, 1, 0, 8)});
  ExpectFound("has changed");
}

TEST_F(LedgerCheckerTest, AStaleContributionIsFound) {
  for (uint64_t sequence = 1; sequence <= 2; ++sequence) {
    const uint64_t at = 10 * sequence + 10;
    Add(Granted{kJob, first_, {{at, at + 5}}});
    Commit(sequence,
           Open(sequence,
                {MemberOf(first_, 1, at, at + 5, sequence, sequence - 1)}),
           5);
  }
  Open(3, {MemberOf(second_, 2, 10, 20, 1, 0)});
  ExpectFound("too stale");
}

TEST_F(LedgerCheckerTest, SuccessWithoutEverySampleIsFound) {
  Add(JobEnded{kJob, JobPhase::kSucceeded, ""});
  ExpectFound("0 of 100 samples");
}

TEST_F(LedgerCheckerTest, AJobThatIsDeletedBeforeItsEndIsFound) {
  Add(coordinator::JobDeleted{kJob});
  ExpectFound("had not ended");
}

TEST_F(LedgerCheckerTest, ADropOfWhatIsOpenIsFound) {
  Open(1, {MemberOf(first_, 1, 0, 10)});
  Add(Dropped{kJob, {}, first_, Round(1), "", {{0, 10}}});
  ExpectFound("the open attempt names it");
}

TEST(AnchorCheckerTest, ACommitOfBytesThatNobodyStoredIsFound) {
  Violations found;
  AnchorChecker checker(found);
  checker.OnDurable(
      {Revision(9),
       Committed{kJob, {}, Sequence(1), Attempt(8), {7}, 1.0, {}}});
  EXPECT_EQ(found.count(), 1u);
}

TEST(AnchorCheckerTest, OrdersThatGoBackAreFound) {
  Violations found;
  AnchorChecker checker(found);
  protocol::Orders orders;
  orders.revision = Revision(5);
  checker.OnOrdersSaid(1, orders);
  orders.revision = Revision(4);
  checker.OnOrdersSaid(2, orders);
  EXPECT_EQ(found.count(), 0u);
  checker.OnOrdersSaid(1, orders);
  EXPECT_EQ(found.count(), 1u);
}

TEST(DurableCheckerTest, OrdersBeforeTheSyncAreFound) {
  Violations found;
  DurableChecker checker(found);
  checker.OnDurable({Revision(4), JobEnded{}});
  protocol::Orders orders;
  orders.revision = Revision(4);
  checker.OnOrdersSaid(1, orders);
  EXPECT_EQ(found.count(), 0u);
  orders.revision = Revision(5);
  checker.OnOrdersSaid(1, orders);
  EXPECT_EQ(found.count(), 1u);
}

TEST(DurableCheckerTest, AReplayToAnotherStateIsFound) {
  Violations found;
  DurableChecker checker(found);
  checker.OnDurable({Revision(4), JobEnded{}});
  checker.OnState(Revision(4), 17);
  checker.OnState(Revision(4), 17);
  EXPECT_EQ(found.count(), 0u);
  checker.OnState(Revision(4), 18);
  EXPECT_EQ(found.count(), 1u);
}

}  // namespace
}  // namespace skerry::sim
