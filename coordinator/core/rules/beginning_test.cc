#include "coordinator/core/rules/beginning.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/core/rules/job_orders.h"
#include "coordinator/core/rules/job_rules.h"
#include "coordinator/core/rules/membership.h"
#include "coordinator/core/testing/job_bench.h"
#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

const std::string kProgram(64, 'a');

// Three islands with a worker each, all of which allow the program.
class BeginningTest : public testing::Test {
 protected:
  BeginningTest() : bench_(job::ProgramJob("bench", 1000)) {
    for (const char* name : {"w0", "w1", "w2"}) Come(name);
  }

  void Come(const std::string& name) {
    bench_.AddWorker(name, "of-" + name);
    StatusFacts status;
    status.self.worker = name;
    status.counter = 2;
    status.programs = {{"resnet", kProgram}};
    bench_.workers.Heard(status, bench_.now);
  }

  // The worker's trainer begins with the values of that hash.
  void Say(const std::string& name, uint64_t initial_hash,
           std::vector<FragmentFacts> fragments = {}, uint64_t begun_with = 0) {
    JobFacts facts;
    facts.job = JobId(1);
    facts.state = protocol::SeatState::kRecovering;
    facts.element_count = 8 * 4096;
    facts.initial_hash = initial_hash;
    facts.layout_hash = 5;
    facts.fragments = std::move(fragments);
    facts.begun_with = begun_with;
    HearSeat(bench_.job, name, bench_.workers.FindCurrent(name)->incarnation,
             &facts, bench_.options);
    DecideJob(bench_.job, bench_.decider());
  }

  // A worker that has made its state out of those values.
  static FragmentFacts AtBeginning(uint64_t sequence = 0) {
    FragmentFacts facts;
    facts.applied = Sequence(sequence);
    facts.anchor_hashes.assign(8, 77);
    facts.bases = {{Sequence(sequence), 0, std::vector<uint64_t>(8, 77)}};
    return facts;
  }

  void Lose(const std::string& name) {
    const Incarnation incarnation =
        bench_.workers.FindCurrent(name)->incarnation;
    LoseWorker(bench_.job, bench_.decider(), name, "a test");
    bench_.Emit(WorkerLeft{name, incarnation, "a test"});
    DecideJob(bench_.job, bench_.decider());
  }

  uint64_t Told(const std::string& name) {
    return JobOrdersWriter(bench_.job, bench_.workers, bench_.options,
                           bench_.now)
        .For(name)
        ->initial_hash;
  }

  JobBench bench_;
};

TEST_F(BeginningTest, TheFirstTrainersValuesAreTheJobsAndOthersAreNotUnfit) {
  Say("w1", 11);
  Say("w0", 10);
  Say("w2", 12);
  ASSERT_EQ(bench_.Decided<JobSized>().size(), 1u);
  EXPECT_EQ(bench_.job.initial_hash, 11u);
  EXPECT_EQ(bench_.job.program_sha256, kProgram);
  for (const char* name : {"w0", "w1", "w2"}) {
    EXPECT_EQ(bench_.job.seats.at(name).unfit, "");
    EXPECT_EQ(Told(name), 11u);
  }
  EXPECT_TRUE(bench_.Decided<Restored>().empty());
}

TEST_F(BeginningTest, TheNextTrainersValuesAreTakenWhenTheFirstIsGone) {
  Say("w1", 11);
  Say("w0", 10);
  Say("w2", 12);
  Lose("w1");
  const auto restored = bench_.Decided<Restored>();
  ASSERT_EQ(restored.size(), 1u);
  EXPECT_EQ(restored[0].initial_hash, 10u);
  EXPECT_EQ(restored[0].sequence, Sequence(1));
  EXPECT_EQ(bench_.job.initial_hash, 10u);
  EXPECT_EQ(Told("w2"), 10u);
  EXPECT_EQ(restored[0].reason,
            "no worker that is there has the values that the job began with "
            "(hash 000000000000000b), and it begins with those of worker w0 "
            "(000000000000000a); nothing is lost");
}

// Nobody else has those values, but w0 has made its state out of them.
TEST_F(BeginningTest, AStateThatAWorkerHoldsStays) {
  Say("w1", 11);
  Say("w0", 10);
  Say("w0", 10, {AtBeginning()});
  Lose("w1");
  EXPECT_TRUE(bench_.Decided<Restored>().empty());
  EXPECT_EQ(bench_.job.initial_hash, 11u);
  Lose("w0");
  Say("w2", 12);
  EXPECT_EQ(bench_.job.initial_hash, 12u);
}

// A worker that comes back may have a state of the values that were given up.
TEST_F(BeginningTest, StatesOfFormerValuesAreOfNoUse) {
  Say("w1", 11);
  Say("w1", 11, {AtBeginning()});
  Lose("w1");
  Say("w0", 10);
  ASSERT_EQ(bench_.job.initial_hash, 10u);
  Come("w1");
  Say("w1", 11, {AtBeginning()});
  EXPECT_EQ(bench_.job.fragments[0].floor(), Sequence(1));
  EXPECT_EQ(bench_.Decided<Restored>().size(), 1u);
  EXPECT_EQ(Told("w1"), 10u);
  // Without w0, which had not made its state yet, it is w1's turn again.
  Lose("w0");
  ASSERT_EQ(bench_.Decided<Restored>().size(), 2u);
  EXPECT_EQ(bench_.Decided<Restored>()[1].sequence, Sequence(2));
  EXPECT_EQ(bench_.job.initial_hash, 11u);
}

// A program may begin with other values each time that it is started.
TEST_F(BeginningTest, AWorkersNextTrainerMayBeginDifferently) {
  Say("w1", 11);
  Say("w1", 21);
  EXPECT_EQ(bench_.job.initial_hash, 21u);
  EXPECT_EQ(bench_.Decided<JobSized>().size(), 2u);
  // It has no state, so no sequence is passed over, which would end its
  // trainer.
  EXPECT_TRUE(bench_.Decided<Restored>().empty());
  Say("w1", 21, {AtBeginning()});
  Say("w1", 31, {AtBeginning()});
  EXPECT_EQ(bench_.job.initial_hash, 21u);
}

TEST_F(BeginningTest, ATrainerThatIsStartedAnewIsWaitedFor) {
  Say("w1", 11);
  Say("w0", 10);
  JobFacts facts;
  facts.job = JobId(1);
  HearSeat(bench_.job, "w1", bench_.workers.FindCurrent("w1")->incarnation,
           &facts, bench_.options);
  DecideJob(bench_.job, bench_.decider());
  EXPECT_EQ(bench_.job.initial_hash, 11u);
  Say("w1", 11);
  EXPECT_EQ(bench_.Decided<JobSized>().size(), 1u);
}

// Nobody has heard what w0 made of the values before it was lost.
TEST_F(BeginningTest, AStateThatAWorkerMayHaveMadeUnheardIsOfNoUse) {
  Say("w1", 11);
  Say("w0", 10);
  Say("w0", 0);
  Lose("w0");
  EXPECT_TRUE(bench_.Decided<Restored>().empty());
  Say("w1", 21);
  EXPECT_EQ(bench_.job.initial_hash, 21u);
  ASSERT_EQ(bench_.Decided<Restored>().size(), 1u);
  EXPECT_EQ(bench_.Decided<Restored>()[0].sequence, Sequence(1));
}

// The other span may be on no disk, and still nobody may make this one anew.
TEST_F(BeginningTest, APartOfAStateIsNotMadeAnewAtItsSequence) {
  Say("w1", 11);
  FragmentFacts part = AtBeginning();
  part.anchor_hashes.resize(4);
  part.bases[0].hashes.resize(4);
  Say("w1", 11, {part});
  Say("w0", 10);
  Say("w2", 12);
  Say("w1", 21, {part});
  EXPECT_EQ(bench_.job.initial_hash, 10u);
  ASSERT_EQ(bench_.Decided<Restored>().size(), 1u);
  EXPECT_EQ(bench_.Decided<Restored>()[0].sequence, Sequence(1));
}

// It may have made a state, and does not tell of a job that it has no part in.
TEST_F(BeginningTest, AWorkerThatHadAPlaceTellsNothingOfItsDisk) {
  Say("w1", 11);
  Say("w0", 10);
  Say("w2", 12);
  ASSERT_TRUE(bench_.job.beginners->all_stayed);
  bench_.job.places.erase("of-w1");
  DecideBeginning(bench_.job, bench_.decider());
  EXPECT_EQ(bench_.job.initial_hash, 10u);
  EXPECT_EQ(bench_.Decided<Restored>().size(), 1u);
}

// Its values may be the job's, and it may have made the state already.
TEST_F(BeginningTest, ATrainerThatHasNotAnsweredYetIsWaitedFor) {
  Say("w1", 11);
  Say("w0", 10);
  JobFacts silent;
  silent.job = JobId(1);
  HearSeat(bench_.job, "w2", bench_.workers.FindCurrent("w2")->incarnation,
           &silent, bench_.options);
  Say("w1", 21);
  EXPECT_EQ(bench_.job.initial_hash, 11u);
  Say("w2", 12);
  EXPECT_EQ(bench_.job.initial_hash, 10u);
}

// Somebody may have made a state that an earlier process has heard of.
TEST_F(BeginningTest, ACoordinatorThatWasStartedAnewTrustsNoDisk) {
  Say("w1", 11);
  bench_.job.beginners.reset();
  Say("w1", 21);
  EXPECT_EQ(bench_.job.initial_hash, 21u);
  ASSERT_EQ(bench_.Decided<Restored>().size(), 1u);
  // It knows the worker's next trainer.
  Say("w1", 31);
  EXPECT_EQ(bench_.job.initial_hash, 31u);
  EXPECT_EQ(bench_.Decided<Restored>().size(), 1u);
}

// The job has lost its journal. What a worker has made of the values that the
// job began with then is not the job's.
TEST_F(BeginningTest, AStateOfOtherValuesIsNotHeld) {
  const auto shown = [this](const std::string& name) {
    return bench_.job.seats.at(name).facts.fragments.at(0);
  };
  // It speaks before the job has its size, and another one after.
  Say("w0", 0, {AtBeginning()}, 99);
  EXPECT_EQ(shown("w0").bases.size(), 1u);
  Say("w1", 11, {AtBeginning()}, 11);
  Say("w2", 12, {AtBeginning()}, 98);
  ASSERT_EQ(bench_.job.initial_hash, 11u);
  EXPECT_EQ(shown("w1").bases.size(), 1u);
  EXPECT_EQ(shown("w1").anchor_hashes.size(), 8u);
  for (const char* name : {"w0", "w2"}) {
    EXPECT_TRUE(shown(name).bases.empty()) << name;
    EXPECT_TRUE(shown(name).anchor_hashes.empty()) << name;
  }
  // It does not say of which values its state is, as older releases do not.
  Say("w2", 12, {AtBeginning()}, 0);
  EXPECT_EQ(shown("w2").bases.size(), 1u);
}

// The coordinator cannot know what was committed, and so an operator decides.
TEST_F(BeginningTest, ACommittedStateIsShownWithWhateverValuesItBegan) {
  Say("w1", 11);
  FragmentFacts committed = AtBeginning(3);
  committed.applied_attempt = Attempt(40);
  committed.bases[0].attempt = Attempt(40);
  Say("w2", 12, {committed}, 98);
  EXPECT_TRUE(bench_.job.diverged.has_value());
}

// An operator has kept a state whose commits only the lost journal had.
TEST_F(BeginningTest, AStateThatWasKeptIsNoBeginning) {
  Say("w1", 11);
  bench_.Emit(Diverged{bench_.job.id, "w1", "ahead"});
  bench_.Emit(Adopted{bench_.job.id, {Sequence(9)}, "kept", {Attempt()}});
  Say("w2", 12, {AtBeginning(9)}, 98);
  EXPECT_EQ(bench_.job.seats.at("w2").facts.fragments[0].bases.size(), 1u);
  Lose("w2");
  Say("w1", 21);
  EXPECT_TRUE(bench_.Decided<Restored>().empty());
  EXPECT_EQ(bench_.job.initial_hash, 11u);
}

TEST_F(BeginningTest, NothingIsTakenOnceSomethingIsCommitted) {
  Say("w1", 11);
  Say("w0", 10);
  bench_.AddReplica("of-w1", {"w1"});
  bench_.Offer("w1", 1, 0, {0, 8});
  DecideJob(bench_.job, bench_.decider());
  bench_.Report("w1", 7);
  DecideJob(bench_.job, bench_.decider());
  ASSERT_EQ(bench_.job.State(), Sequence(1));
  Lose("w1");
  EXPECT_TRUE(bench_.Decided<Restored>().empty());
  EXPECT_EQ(bench_.job.initial_hash, 11u);
}

TEST_F(BeginningTest, ATrainerThatDoesNotSayItsValuesIsUnfit) {
  Say("w1", 0);
  EXPECT_EQ(bench_.job.seats.at("w1").unfit,
            "its trainer does not say with which values it begins");
  EXPECT_FALSE(bench_.job.Sized());
}

TEST_F(BeginningTest, AnotherLayoutIsUnfit) {
  Say("w1", 11);
  JobFacts facts = bench_.job.seats.at("w1").facts;
  facts.layout_hash = 6;
  HearSeat(bench_.job, "w0", bench_.workers.FindCurrent("w0")->incarnation,
           &facts, bench_.options);
  EXPECT_EQ(bench_.job.seats.at("w0").unfit,
            "its program keeps the model's tensors in another order or shape "
            "than the job's first (layout 0000000000000006, not "
            "0000000000000005); give it the same inputs and libraries on all "
            "workers");
}

}  // namespace
}  // namespace skerry::coordinator
