#include "coordinator/core/views/job_view.h"

#include "coordinator/core/rules/exchange.h"
#include "coordinator/core/testing/job_bench.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

using ::testing::HasSubstr;

std::string ReasonOf(const JobBench& bench) {
  return ViewOf(bench.job, bench.workers, bench.options, Turn(), Revision(1),
                bench.now)
      .reason;
}

TEST(JobViewTest, AJobThatCannotStartSaysWhatIsWrongAndWhere) {
  JobBench bench;
  Place& place = bench.job.places["a"];
  place.incarnations = {bench.AddWorker("w0", "a")};
  place.workers = {"w0"};
  EXPECT_EQ(ReasonOf(bench), "trainers are starting");
  bench.Facts("w0").error = "the trainer was killed";
  EXPECT_EQ(ReasonOf(bench),
            "trainers are starting; w0: the trainer was killed");
}

TEST(JobViewTest, AJobWithoutAReplicaSaysWhatIsWrongAndWhere) {
  JobBench bench;
  const Life life = bench.AddReplica("a", {"w0"});
  bench.Emit(ReplicaEnded{bench.job.id, life, "its trainer died"});
  bench.Facts("w0").error = "the trainer ended with code 1";
  EXPECT_THAT(ReasonOf(bench), HasSubstr("w0: the trainer ended with code 1"));
}

// The places of a job that has ended are not made anew.
TEST(JobViewTest, AWorkerThatStartsAgainAfterTheJobIsSeenWithTheStateItKeeps) {
  JobBench bench;
  Place& place = bench.job.places["a"];
  place.workers = {"w0"};
  place.incarnations = {Incarnation(7)};
  bench.AddWorker("w0", "a");
  bench.Facts("w0").state = protocol::SeatState::kResting;
  bench.Fragment("w0").applied = Sequence(5);
  const auto seat = [&] {
    return ViewOf(bench.job, bench.workers, bench.options, Turn(), Revision(1),
                  bench.now)
        .replicas.at(0)
        .seats.at(0);
  };
  EXPECT_EQ(seat().state, "silent");
  bench.job.phase = JobPhase::kSucceeded;
  EXPECT_EQ(seat().state, "resting");
  EXPECT_EQ(seat().applied, Sequence(5));

  JobBench replicas;
  replicas.AddReplica("a", {"w0"});
  replicas.AddWorker("w0", "a");
  replicas.Facts("w0").state = protocol::SeatState::kResting;
  const auto state = [&] {
    return ViewOf(replicas.job, replicas.workers, replicas.options, Turn(),
                  Revision(1), replicas.now)
        .replicas.at(0)
        .seats.at(0)
        .state;
  };
  EXPECT_EQ(state(), "silent");
  replicas.job.phase = JobPhase::kSucceeded;
  EXPECT_EQ(state(), "resting");
}

uint64_t SynchronousBytes(const JobBench& bench) {
  return ViewOf(bench.job, bench.workers, bench.options, Turn(), Revision(1),
                bench.now)
      .counters.synchronous_bytes;
}

JobView View(const JobBench& bench) {
  return ViewOf(bench.job, bench.workers, bench.options, Turn(), Revision(1),
                bench.now);
}

void CommitOpen(JobBench& bench, const std::vector<std::string>& workers) {
  for (const std::string& worker : workers) bench.Report(worker, 77);
  const OpenAttempt open = *bench.job.fragments[0].open();
  bench.Emit(Committed{bench.job.id,
                       FragmentId(0),
                       open.opened.sequence,
                       open.attempt,
                       {77, 77, 77, 77, 77, 77, 77, 77},
                       16,
                       {2.0, 3, 1, 1}});
}

// Opens an exchange of what both have offered.
void OpenByTwo(JobBench& bench) {
  Opened opened;
  opened.job = bench.job.id;
  opened.sequence = Next(bench.job.fragments[0].newest());
  opened.reason = "all are ready";
  for (const char* worker : {"wa", "wb"}) {
    const Replica& replica = *bench.job.replicas.FindWorker(worker);
    opened.members.push_back({replica.replica, replica.life,
                              *bench.Fragment(worker).ready, replica.holders});
  }
  opened.members[1].codec = compression::CodecId::kInt8Block;
  opened.members[1].result_codec = compression::CodecId::kBf16;
  opened.owners.assign(8, 0);
  opened.total_weight = 16;
  bench.Emit(opened);
}

TEST(JobViewTest, TheNewestExchangeSaysHowItsMembersSend) {
  JobBench bench;
  bench.AddReplica("a", {"wa"});
  bench.AddReplica("b", {"wb"});
  EXPECT_FALSE(View(bench).exchange.has_value());
  bench.Offer("wa", 1, 0, {0, 8});
  bench.Offer("wb", 1, 0, {16, 24});
  OpenByTwo(bench);
  ASSERT_TRUE(View(bench).exchange.has_value());
  EXPECT_TRUE(View(bench).exchange->open);
  CommitOpen(bench, {"wa", "wb"});
  bench.Offer("wa", 2, 1, {8, 16});
  bench.Offer("wb", 2, 0, {24, 32});
  OpenByTwo(bench);
  CommitOpen(bench, {"wa", "wb"});
  const ExchangeView exchange = *View(bench).exchange;
  EXPECT_FALSE(exchange.open);
  EXPECT_EQ(exchange.sequence, Sequence(2));
  EXPECT_EQ(exchange.reason, "all are ready");
  EXPECT_EQ(exchange.elements, 8u * 4096);
  ASSERT_EQ(exchange.members.size(), 2u);
  EXPECT_EQ(exchange.members[0].codec, "raw_f32");
  EXPECT_EQ(exchange.members[0].result_codec, "raw_f32");
  EXPECT_EQ(exchange.members[0].lateness, 0u);
  EXPECT_EQ(exchange.members[1].codec, "int8_block");
  EXPECT_EQ(exchange.members[1].result_codec, "bf16");
  EXPECT_EQ(exchange.members[1].lateness, 1u);
  EXPECT_LT(exchange.members[1].encoded_bytes,
            exchange.members[0].encoded_bytes / 3);
}

TEST(JobViewTest, GoodputLeavesOutStallsAndSamplesGivenOutAgain) {
  JobBench bench;
  EXPECT_FALSE(View(bench).counters.goodput.has_value());
  protocol::SeatCounters done;
  done.compute_s = 6;
  done.stall_s = 2;
  bench.job.counting["wa"] = done;
  EXPECT_DOUBLE_EQ(*View(bench).counters.goodput, 0.75);
  bench.AddReplica("a", {"wa"});
  const Life b = bench.AddReplica("b", {"wb"});
  bench.Offer("wa", 1, 0, {0, 8});
  bench.Offer("wb", 1, 0, {16, 24});
  OpenByTwo(bench);
  CommitOpen(bench, {"wa", "wb"});
  EXPECT_DOUBLE_EQ(*View(bench).counters.goodput, 0.75);
  const uint64_t held = bench.job.ledger.LeasedTo(b).total();
  ASSERT_EQ(held, 8u);
  bench.Emit(ReplicaEnded{bench.job.id, b, "its trainer died"});
  bench.AddReplica("c", {"wc"});
  const double committed =
      static_cast<double>(bench.job.ledger.consumed().total());
  EXPECT_DOUBLE_EQ(
      *View(bench).counters.goodput,
      0.75 * committed /
          (committed +
           static_cast<double>(bench.job.audit.Report().samples_returned)));
  EXPECT_LT(*View(bench).counters.goodput, 0.75);
}

TEST(JobViewTest, TheSavingCountsTheReplicasOfEachCommit) {
  JobBench bench;
  const Life a = bench.AddReplica("a", {"wa"});
  bench.AddReplica("b", {"wb"});
  bench.Offer("wa", 1, 0, {0, 8});
  bench.Offer("wb", 1, 0, {16, 24});
  OpenByTwo(bench);
  CommitOpen(bench, {"wa", "wb"});
  // 2 (R - 1) x 4 bytes for 8 x 4096 values at each of 3 steps.
  constexpr uint64_t kWithTwo = 2 * 4 * 8 * 4096 * 3;
  EXPECT_EQ(SynchronousBytes(bench), kWithTwo);
  // What was committed stays what it was, however many replicas there are now.
  bench.AddReplica("c", {"wc"});
  EXPECT_EQ(SynchronousBytes(bench), kWithTwo);
  bench.Emit(ReplicaEnded{bench.job.id, a, "its trainer died"});
  EXPECT_EQ(SynchronousBytes(bench), kWithTwo);
}

TEST(JobViewTest, MetricsAreMeansOverTheWorkersThatTrain) {
  JobBench bench(job::ProgramJob("bench", 1000));
  bench.AddReplica("a", {"wa"});
  bench.AddReplica("b", {"wb"});
  bench.AddWorker("wc", "c");
  bench.Facts("wa").metrics = {{"accuracy", 0.5}, {"grad/norm", 3}};
  bench.Facts("wb").metrics = {{"accuracy", 0.7}};
  bench.Facts("wc").metrics = {{"accuracy", 0.1}, {"other", 1}};
  const JobView view = ViewOf(bench.job, bench.workers, bench.options, Turn(),
                              Revision(1), bench.now);
  ASSERT_EQ(view.metrics.size(), 2u);
  EXPECT_DOUBLE_EQ(view.metrics.at("accuracy"), 0.6);
  EXPECT_DOUBLE_EQ(view.metrics.at("grad/norm"), 3);
}

// A program's samples have no tokens.
TEST(JobViewTest, TheSpeedIsInSamplesToo) {
  JobBench bench(job::ProgramJob("bench", 1000));
  bench.AddReplica("a", {"wa"});
  bench.Offer("wa", 1, 0, {0, 8});
  DecideExchange(bench.job, bench.decider());
  bench.Report("wa", 7);
  DecideExchange(bench.job, bench.decider());
  const JobView view = ViewOf(bench.job, bench.workers, bench.options, Turn(),
                              Revision(1), bench.now + absl::Seconds(4));
  EXPECT_DOUBLE_EQ(view.counters.samples_per_s, 2);
  EXPECT_EQ(view.counters.tokens_per_s, 0);
}

}  // namespace
}  // namespace skerry::coordinator
