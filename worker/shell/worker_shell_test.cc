#include "worker/shell/worker_shell.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "runtime/testing/manual_loop.h"
#include "worker/shell/testing/fake_ports.h"

namespace skerry::worker {
namespace {

using protocol::JobFacts;
using protocol::JobOrders;
using protocol::JobPhase;
using protocol::Orders;
using protocol::StatusFacts;

// What became of the newest object for a job.
struct JobRecord {
  int made = 0;
  bool there = false;
  bool draining = false;
  std::vector<std::string> boots;
  std::vector<uint64_t> revisions;
  std::function<void()> changed;
};

class FakeJob final : public Job {
 public:
  FakeJob(const JobOrders& first, JobRecord& record, absl::Status start)
      : orders_(first), record_(record), start_(std::move(start)) {
    ++record_.made;
    record_.there = true;
  }
  ~FakeJob() override { record_.there = false; }

  absl::Status Start() override { return start_; }
  absl::Status OnOrders(Revision revision, const JobOrders&) override {
    record_.revisions.push_back(revision.value());
    return absl::OkStatus();
  }
  void OnBootChanged(const std::string& reason) override {
    record_.boots.push_back(reason);
  }
  void SetDraining(bool draining) override { record_.draining = draining; }
  protocol::FrameVerdict OnFrame(const compression::FrameHeader&,
                                 const SharedBytes&) override {
    return protocol::FrameVerdict::kAccepted;
  }
  absl::StatusOr<SharedBytes> OnFetch(const protocol::PieceKey&) override {
    return absl::NotFoundError("");
  }
  void OnDataFetch(const protocol::PieceKey&,
                   transport::BulkReceiver::FetchAnswer answer) override {
    std::move(answer)(absl::NotFoundError(""));
  }
  void OnAgreeCut(const CutRequest&, Seat::CutAnswer answer) override {
    std::move(answer)(absl::AbortedError("asked"));
  }
  void OnMeet(const MeetRequest&, GroupMeeting::Answer answer) override {
    std::move(answer)(absl::AbortedError("asked"));
  }
  bool IsBeingRead() const override { return IsOver(orders_.phase); }
  JobFacts Facts() const override {
    JobFacts facts;
    facts.job = orders_.job;
    return facts;
  }
  uint64_t uid() const override { return orders_.uid; }
  const std::string& name() const override { return orders_.spec.name; }
  uint64_t highest_number() const override { return 50; }
  bool codecs_by_policy() const override { return orders_.job == JobId(2); }
  Sequence restored() const override { return RestoredAt(orders_); }

 private:
  const JobOrders orders_;
  JobRecord& record_;
  const absl::Status start_;
};

JobOrders JobOf(uint64_t id, uint64_t uid = 7) {
  JobOrders orders;
  orders.job = JobId(id);
  orders.uid = uid;
  orders.phase = JobPhase::kRunning;
  return orders;
}

class WorkerShellTest : public testing::Test {
 protected:
  WorkerShellTest() { shell_.Start(); }

  // Orders for the present boot.
  Orders At(uint64_t revision, std::vector<JobOrders> jobs = {}) {
    Orders orders;
    orders.revision = Revision(revision);
    orders.boot = Boot(boots_drawn_);
    orders.incarnation = Incarnation(9);
    orders.lease = absl::Seconds(10);
    orders.jobs = std::move(jobs);
    return orders;
  }
  void Hear(Orders orders) {
    port_.Say(std::move(orders));
    loop_.RunUntilIdle();
  }
  // The session ends so, and is there again.
  void End(absl::Status why) {
    port_.End(std::move(why));
    loop_.Advance(absl::Seconds(1));
  }
  // The newest Status, once all that waited has left.
  const StatusFacts& Said() {
    loop_.RunUntilIdle();
    for (size_t said = 0; port_.is_open() && said != port_.written.size();) {
      said = port_.written.size();
      port_.Written();
    }
    return port_.written.back();
  }
  JobRecord& Of(uint64_t id) { return records_[id]; }

  ShellOptions Options() {
    ShellOptions options;
    options.self.worker = "w";
    options.island = "a";
    options.draw_boot = [this] { return ++boots_drawn_; };
    options.unix_ms = [this] {
      return 1000 + absl::ToInt64Milliseconds(loop_.Now().since_start());
    };
    options.on_refused = [this](const absl::Status& why) { refused_ = why; };
    return options;
  }
  ShellPorts Ports() {
    return {.loop = loop_,
            .session = port_,
            .folders = folders_,
            .machine = machine_,
            .make_job = [this](const JobOrders& orders,
                               std::function<void()> changed) {
              JobRecord& record = Of(orders.job.value());
              record.changed = std::move(changed);
              return std::make_unique<FakeJob>(orders, record, start_);
            }};
  }

  runtime::ManualLoop loop_;
  FakeSessionPort port_;
  FakeFoldersPort folders_;
  FakeMachine machine_;
  uint64_t boots_drawn_ = 0;
  // What jobs answer when they are started.
  absl::Status start_;
  absl::Status refused_;
  std::map<uint64_t, JobRecord> records_;
  WorkerShell shell_{Options(), Ports()};
};

TEST_F(WorkerShellTest, ItServesWhatOrdersNameAndNothingElse) {
  Hear(At(5, {JobOf(1), JobOf(2)}));
  EXPECT_TRUE(Of(1).there);
  EXPECT_TRUE(Of(2).there);
  EXPECT_EQ(machine_.said, "orders jobs ");
  Hear(At(6, {JobOf(2)}));
  EXPECT_FALSE(Of(1).there);
  EXPECT_EQ(Of(2).made, 1);
  EXPECT_EQ(Of(2).revisions, (std::vector<uint64_t>{5, 6}));
  const StatusFacts said = shell_.Facts();
  EXPECT_EQ(said.incarnation, Incarnation(9));
  EXPECT_EQ(said.seen, Revision(50)) << "the job's files name it";
  ASSERT_EQ(said.jobs.size(), 1u);
  EXPECT_EQ(said.jobs[0].job, JobId(2));
  EXPECT_TRUE(said.fetches_data) << "the machine's facts";
}

TEST_F(WorkerShellTest, OlderOrdersAndThoseForAnotherBootAreNotFollowed) {
  Hear(At(5, {JobOf(1)}));
  Hear(At(4, {}));
  EXPECT_TRUE(Of(1).there);
  Orders other = At(7, {});
  other.boot = Boot(99);
  Hear(other);
  EXPECT_TRUE(Of(1).there);
  // The same revision again may say more.
  Hear(At(5, {}));
  EXPECT_FALSE(Of(1).there);
}

TEST_F(WorkerShellTest, AnAbortedSessionTakesANewBoot) {
  Hear(At(60, {JobOf(1)}));
  Said();
  End(absl::AbortedError("another process has come"));
  EXPECT_EQ(boots_drawn_, 2u);
  EXPECT_EQ(Of(1).boots,
            (std::vector<std::string>{"another process has come"}));
  EXPECT_TRUE(Of(1).there);
  const StatusFacts& said = Said();
  EXPECT_EQ(said.boot, Boot(2));
  EXPECT_EQ(said.process, Boot(1));
  EXPECT_FALSE(said.incarnation.is_set());
  EXPECT_EQ(said.seen, Revision(60));
  // The numbers of another history may be lower.
  Hear(At(3, {JobOf(1)}));
  EXPECT_EQ(Of(1).revisions, (std::vector<uint64_t>{60, 3}));
}

TEST_F(WorkerShellTest, ALostSessionKeepsTheBootAndSaysAllAgain) {
  Hear(At(5, {JobOf(1)}));
  Said();
  EXPECT_TRUE(shell_.Ready().ok());
  const size_t before = port_.written.size();
  port_.End(absl::UnavailableError("the line broke"));
  EXPECT_FALSE(shell_.Ready().ok());
  EXPECT_EQ(shell_.sessions_lost(), 1u);
  loop_.Advance(absl::Milliseconds(60));
  ASSERT_EQ(port_.written.size(), before + 1);
  EXPECT_EQ(port_.written.back().boot, Boot(1));
  EXPECT_EQ(port_.written.back().incarnation, Incarnation(9));
  EXPECT_TRUE(Of(1).boots.empty());
}

TEST_F(WorkerShellTest, ATakenNameIsGivenUp) {
  Hear(At(5));
  End(absl::AlreadyExistsError("another process has it"));
  EXPECT_TRUE(absl::IsAlreadyExists(refused_));
}

TEST_F(WorkerShellTest, AnotherProtocolIsGivenUpUnlessItAdmittedThisProcess) {
  End(absl::FailedPreconditionError("another protocol"));
  EXPECT_TRUE(absl::IsFailedPrecondition(refused_));
  refused_ = absl::OkStatus();
  Hear(At(5));
  End(absl::FailedPreconditionError("another protocol"));
  EXPECT_TRUE(refused_.ok()) << refused_;
  EXPECT_TRUE(port_.is_open());
}

TEST_F(WorkerShellTest, AJobThatCannotBeServedIsTriedAgainAfterAWait) {
  start_ = absl::ResourceExhaustedError("the disk is full");
  Hear(At(5, {JobOf(1)}));
  EXPECT_EQ(Of(1).made, 1);
  ASSERT_EQ(Said().jobs.size(), 1u);
  EXPECT_EQ(Said().jobs[0].error, "the disk is full; tried again by itself");
  EXPECT_EQ(shell_.OnFrame("x", {.job = 1}, {}),
            protocol::FrameVerdict::kNotYet);
  loop_.Advance(absl::Milliseconds(900));
  Hear(At(6, {JobOf(1)}));
  EXPECT_EQ(Of(1).made, 1);
  loop_.Advance(absl::Milliseconds(200));
  Hear(At(7, {JobOf(1)}));
  EXPECT_EQ(Of(1).made, 2);
  // The wait has doubled.
  loop_.Advance(absl::Milliseconds(1900));
  Hear(At(8, {JobOf(1)}));
  EXPECT_EQ(Of(1).made, 2);
  start_ = absl::OkStatus();
  loop_.Advance(absl::Milliseconds(200));
  Hear(At(9, {JobOf(1)}));
  EXPECT_EQ(Of(1).made, 3);
  EXPECT_EQ(Of(1).revisions, (std::vector<uint64_t>{9}));
  EXPECT_EQ(Said().jobs[0].error, "");
}

TEST_F(WorkerShellTest, AWaitIsForgottenWithItsJob) {
  start_ = absl::ResourceExhaustedError("the disk is full");
  Hear(At(5, {JobOf(1)}));
  Hear(At(6, {}));
  EXPECT_TRUE(shell_.Facts().jobs.empty());
  Hear(At(7, {JobOf(1)}));
  EXPECT_EQ(Of(1).made, 2);
}

TEST_F(WorkerShellTest, RefusedOrdersLeaveServedJobsAndAreSaidOfOthers) {
  Hear(At(5, {JobOf(1)}));
  protocol::HeardOrders heard;
  heard.orders = At(6);
  heard.refused.push_back({{JobId(1), 7}, absl::InvalidArgumentError("odd")});
  heard.refused.push_back({{JobId(2), 7}, absl::InvalidArgumentError("odd")});
  port_.Say(heard);
  EXPECT_TRUE(Of(1).there);
  shell_.StatusChanged();
  ASSERT_EQ(Said().jobs.size(), 2u);
  EXPECT_EQ(Said().jobs[1].error, "odd; tried again by itself");
}

TEST_F(WorkerShellTest, AJobOfTheSameNumberOrAnotherStateTakesTheFormersPlace) {
  Hear(At(5, {JobOf(1)}));
  Hear(At(6, {JobOf(1, 8)}));
  EXPECT_EQ(Of(1).made, 2);
  JobOrders back = JobOf(1, 8);
  back.restored.emplace();
  back.restored->sequence = Sequence(3);
  Hear(At(7, {back}));
  EXPECT_EQ(Of(1).made, 3);
  Hear(At(8, {back}));
  EXPECT_EQ(Of(1).made, 3);
  EXPECT_TRUE(Of(1).there);
}

TEST_F(WorkerShellTest, AnOperatorsDrainHoldsForJobsOldAndNew) {
  Hear(At(5, {JobOf(1)}));
  EXPECT_FALSE(Of(1).draining);
  Orders drain = At(6, {JobOf(1), JobOf(2)});
  drain.drain = true;
  drain.released = true;
  Hear(drain);
  EXPECT_TRUE(Of(1).draining);
  EXPECT_TRUE(Of(2).draining);
  EXPECT_FALSE(Said().draining) << "it is not the worker's own word";
  Hear(At(7, {JobOf(1), JobOf(2)}));
  EXPECT_FALSE(Of(1).draining);
  EXPECT_FALSE(Of(2).draining);
}

TEST_F(WorkerShellTest, ADrainedWorkerIsDoneWhenItIsReleased) {
  Hear(At(5, {JobOf(1)}));
  bool released = false;
  shell_.Drain([&released] { released = true; });
  EXPECT_TRUE(Of(1).draining);
  EXPECT_TRUE(Said().draining);
  Hear(At(6, {JobOf(1)}));
  EXPECT_FALSE(released);
  Orders last = At(7);
  last.released = true;
  Hear(last);
  EXPECT_TRUE(released);
}

TEST_F(WorkerShellTest, AWithdrawnNoticeBringsTheWorkerBackUnderANewBoot) {
  Hear(At(5, {JobOf(1)}));
  Said();
  shell_.SetNotice(PendingNotice{"file", "soon", Instant(absl::Hours(1))});
  EXPECT_TRUE(Of(1).draining);
  EXPECT_EQ(Said().drain_reason, "preemption notice of file: soon");
  shell_.SetNotice(std::nullopt);
  EXPECT_FALSE(Of(1).draining);
  EXPECT_EQ(Of(1).boots.size(), 1u);
  EXPECT_EQ(port_.cancelled, 1);
  End(absl::CancelledError(""));
  EXPECT_EQ(Said().boot, Boot(2));
  EXPECT_FALSE(Said().draining);
}

TEST_F(WorkerShellTest, ANoticeDoesNotEndADrain) {
  shell_.Drain([] {});
  shell_.SetNotice(PendingNotice{"file", "soon", Instant(absl::Hours(1))});
  shell_.SetNotice(std::nullopt);
  EXPECT_TRUE(Said().draining);
  EXPECT_EQ(boots_drawn_, 1u);
}

TEST_F(WorkerShellTest, ChangesOfOneTurnShareAStatus) {
  Hear(At(5, {JobOf(1)}));
  const uint64_t before = Said().counter;
  for (int i = 0; i < 3; ++i) Of(1).changed();
  EXPECT_EQ(Said().counter, before + 1);
  // One that is sent in between says it, too.
  Of(1).changed();
  shell_.Drain([] {});
  EXPECT_EQ(Said().counter, before + 2);
}

TEST_F(WorkerShellTest, AStatusFollowsAnotherWithinAThirdOfTheLease) {
  Hear(At(5));
  Said();
  loop_.Advance(absl::Seconds(1));  // the interval before the first lease
  const uint64_t before = Said().counter;
  loop_.Advance(absl::Milliseconds(2900));
  EXPECT_EQ(Said().counter, before);
  loop_.Advance(absl::Milliseconds(200));
  EXPECT_EQ(Said().counter, before + 1);
}

TEST_F(WorkerShellTest, FoldersAreListedMarkedAndRemoved) {
  std::move(folders_.listed)(
      {{{{JobId(1), 7}, 100, 0}, {{JobId(2), 7}, 5, 0}}});
  EXPECT_EQ(Said().stored.all.size(), 2u);
  Orders orders = At(5, {JobOf(1)});
  orders.ended_jobs = {{JobId(2), 7}};
  Hear(orders);
  ASSERT_EQ(folders_.marked.size(), 1u);
  EXPECT_EQ(folders_.marked[0].key, (StoredJobKey{JobId(2), 7}));
  EXPECT_TRUE(folders_.removals.empty());
  orders = At(6, {JobOf(1)});
  orders.removed_jobs = {{JobId(2), 7}};
  Hear(orders);
  ASSERT_EQ(folders_.removals.size(), 1u);
  EXPECT_TRUE(Of(1).there);
  // While it is being removed, nobody is served from it.
  Hear(At(7, {JobOf(1), JobOf(2)}));
  EXPECT_FALSE(Of(2).there);
  std::move(folders_.removals[0].second)(absl::OkStatus());
  EXPECT_EQ(Said().stored.all.size(), 1u);
  Hear(At(8, {JobOf(1), JobOf(2)}));
  EXPECT_TRUE(Of(2).there);
}

TEST_F(WorkerShellTest, AJobIsServedNoLongerWhenItsFolderGoes) {
  Hear(At(5, {JobOf(1)}));
  Orders orders = At(6, {JobOf(1)});
  orders.removed_jobs = {{JobId(1), 7}};
  // It has ended, or the coordinator would not have it removed.
  orders.jobs[0].phase = JobPhase::kSucceeded;
  Hear(orders);
  EXPECT_FALSE(Of(1).there);
  EXPECT_EQ(folders_.removals.size(), 1u);
}

TEST_F(WorkerShellTest, WhatOneSessionSaidOfFoldersDoesNotHoldInTheNext) {
  std::move(folders_.listed)({{{{JobId(2), 7}, 100, 0}}});
  Orders orders = At(5);
  orders.ended_jobs = {{JobId(2), 7}};
  Hear(orders);
  port_.End(absl::UnavailableError("the line broke"));
  loop_.Advance(absl::Hours(24 * 30));
  std::move(folders_.listed)({{{{JobId(2), 7}, 100, 0}}});
  EXPECT_TRUE(folders_.removals.empty());
}

TEST_F(WorkerShellTest, TwoJobsThatHadEndedAreReadAtATime) {
  std::vector<StoredJob> all;
  std::vector<JobOrders> jobs;
  for (uint64_t id = 1; id <= 4; ++id) {
    all.push_back({{JobId(id), 7}, 1, 0});
    jobs.push_back(JobOf(id));
    if (id < 4) jobs.back().phase = JobPhase::kSucceeded;
  }
  std::move(folders_.listed)(all);
  Hear(At(5, jobs));
  EXPECT_TRUE(Of(1).there);
  EXPECT_TRUE(Of(2).there);
  EXPECT_FALSE(Of(3).there);
  EXPECT_TRUE(Of(4).there) << "it goes on";
}

TEST_F(WorkerShellTest, CodecSpeedsAreSaidOfJobsThatChooseByThem) {
  Hear(At(5, {JobOf(1), JobOf(2)}));
  shell_.SetCodecSpeeds({protocol::CodecSpeed()});
  EXPECT_TRUE(Said().jobs[0].codec_speeds.empty());
  EXPECT_EQ(Said().jobs[1].codec_speeds.size(), 1u);
}

TEST_F(WorkerShellTest, QuestionsOfPeersGoToTheirJob) {
  absl::Status answer;
  CutRequest request;
  request.life = Life(4);
  const auto ask = [&](std::optional<std::string> worker) {
    shell_.OnAgreeCut(
        JobId(1), request, worker,
        [&answer](absl::StatusOr<CutReply> reply) { answer = reply.status(); });
    return answer;
  };
  EXPECT_TRUE(absl::IsUnavailable(ask(std::nullopt)));
  JobOrders job = JobOf(1);
  job.life = Life(4);
  job.holders.resize(1);
  job.holders[0].peer.worker = "w";
  Hear(At(5, {job}));
  EXPECT_TRUE(absl::IsAborted(ask("w")));
  EXPECT_TRUE(absl::IsPermissionDenied(ask("a stranger")));
}

TEST_F(WorkerShellTest, AStoppedWorkerSaysAndServesNothing) {
  Hear(At(5, {JobOf(1)}));
  Said();
  bool stopped = false;
  shell_.Stop([&stopped] { stopped = true; });
  EXPECT_FALSE(Of(1).there);
  EXPECT_FALSE(stopped);
  port_.Say(At(6, {JobOf(1)}));
  EXPECT_FALSE(Of(1).there);
  port_.End(absl::CancelledError(""));
  EXPECT_TRUE(stopped);
  const size_t written = port_.written.size();
  loop_.Advance(absl::Minutes(5));
  EXPECT_EQ(port_.written.size(), written);
  EXPECT_FALSE(port_.is_open());
}

}  // namespace
}  // namespace skerry::worker
