#include "coordinator/core/rules/retention.h"

#include "coordinator/core/testing/job_bench.h"
#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

using protocol::SeatState;

void HoldBase(JobBench& bench, const std::string& name, uint64_t sequence) {
  FragmentFacts& fragment = bench.Fragment(name);
  fragment.bases.push_back(
      {Sequence(sequence), fragment.span_begin, fragment.anchor_hashes});
}

Sequence Keep(JobBench& bench) {
  return KeepFrom(bench.job, bench.workers, bench.options, FragmentId(0));
}

TEST(RetentionTest, KeepsFromTheNewestBaseThatAllHold) {
  JobBench bench;
  bench.AddReplica("a", {"w0"});
  bench.AddReplica("b", {"w1"});
  EXPECT_EQ(Keep(bench), Sequence());
  for (const uint64_t sequence : {4, 8}) HoldBase(bench, "w0", sequence);
  HoldBase(bench, "w1", 4);
  EXPECT_EQ(Keep(bench), Sequence(4));
  HoldBase(bench, "w1", 8);
  EXPECT_EQ(Keep(bench), Sequence(8));
}

TEST(RetentionTest, APinKeepsAnOlderBase) {
  JobBench bench;
  bench.AddReplica("a", {"w0"});
  HoldBase(bench, "w0", 8);
  bench.AddWorker("w1", "b");
  bench.Fragment("w1").pin = Sequence(3);
  EXPECT_EQ(Keep(bench), Sequence(3));
  bench.Emit(
      WorkerLeft{"w1", bench.workers.FindCurrent("w1")->incarnation, ""});
  EXPECT_EQ(Keep(bench), Sequence(8));
}

// Its disk is full: that may last, and others would keep everything for it.
TEST(RetentionTest, AWorkerThatCannotWorkNowHoldsNothingBack) {
  JobBench bench;
  bench.AddReplica("a", {"w0"});
  HoldBase(bench, "w0", 4);
  bench.job.keep_from[0] = Keep(bench);
  bench.AddWorker("w1", "b");
  bench.Facts("w1").state = SeatState::kStarting;
  bench.Fragment("w0").bases.clear();
  HoldBase(bench, "w0", 8);
  EXPECT_EQ(Keep(bench), Sequence(4));
  bench.job.seats["w1"].unfit = "disk: full";
  EXPECT_EQ(Keep(bench), Sequence(8));
}

// Between the offer of a base and the pin the offer has to stay true.
TEST(RetentionTest, NothingMoreIsDroppedUntilAJoinerHasPinned) {
  JobBench bench;
  bench.AddReplica("a", {"w0"});
  HoldBase(bench, "w0", 4);
  bench.job.keep_from[0] = Keep(bench);
  bench.AddWorker("w1", "b");
  bench.Fragment("w1").pin = Sequence();
  bench.job.seats["w1"].facts.state = SeatState::kStarting;
  HoldBase(bench, "w0", 8);
  EXPECT_EQ(Keep(bench), Sequence(4));
  bench.job.seats["w1"].facts.state = SeatState::kRecovering;
  EXPECT_EQ(Keep(bench), Sequence(4));
  bench.Fragment("w1").pin = Sequence(8);
  EXPECT_EQ(Keep(bench), Sequence(8));
}

TEST(RetentionTest, NothingMoreIsDroppedUntilARestartedWorkerHasReported) {
  JobBench bench;
  bench.AddReplica("a", {"w0"});
  bench.AddWorker("w1", "b");
  bench.Fragment("w1").pin = Sequence(4);
  bench.job.seats["w1"].facts.state = SeatState::kActive;
  HoldBase(bench, "w0", 8);
  bench.job.keep_from[0] = Sequence(4);
  bench.AddWorker("w1", "b");
  EXPECT_EQ(Keep(bench), Sequence(4));
  bench.job.seats["w1"] = Seat{};
  bench.Fragment("w1").pin = Sequence(8);
  EXPECT_EQ(Keep(bench), Sequence(8));
}

// A coordinator that comes back knows of no pins.
TEST(RetentionTest, NothingIsDroppedUntilAJoinerIsHeardAfterARestart) {
  JobBench bench;
  bench.AddReplica("a", {"w0"});
  HoldBase(bench, "w0", 8);
  const Incarnation joiner = bench.AddWorker("w1", "b");
  Place& place = bench.job.places["b"];
  place.workers = {"w1"};
  place.incarnations = {joiner};
  bench.job.seats.erase("w1");
  EXPECT_EQ(Keep(bench), Sequence());
  bench.Fragment("w1").pin = Sequence(3);
  EXPECT_EQ(Keep(bench), Sequence(3));
}

TEST(RetentionTest, EverythingIsKeptWhileAWorkerHasNotReported) {
  JobBench bench;
  bench.AddReplica("a", {"w0"});
  bench.AddReplica("b", {"w1"});
  HoldBase(bench, "w0", 8);
  bench.job.seats.erase("w1");
  EXPECT_EQ(Keep(bench), Sequence());
}

// It holds other spans now, or none yet; nobody else may have the base.
TEST(RetentionTest, BasesOnDiskAreOfferedWhoeverHoldsTheSpans) {
  JobBench bench;
  bench.AddReplica("a", {"w0", "w1"});
  bench.Fragment("w0").bases.push_back(
      {Sequence(3), 4, std::vector<uint64_t>(2, 9)});
  bench.AddWorker("w2", "a");
  bench.Fragment("w2").bases.push_back(
      {Sequence(5), 0, std::vector<uint64_t>(8, 7)});
  const auto sources =
      Servers(bench.job, bench.workers, FragmentId(0))
          .For("w1", 4, 8, /*with_base=*/true, bench.options.sources_max);
  ASSERT_EQ(sources.size(), 2u);
  EXPECT_EQ(sources[0].holder.peer.worker, "w2");
  EXPECT_EQ(sources[0].base, Sequence(5));
  EXPECT_EQ(sources[0].base_hashes, std::vector<uint64_t>(8, 7));
  EXPECT_EQ(sources[1].holder.peer.worker, "w0");
  EXPECT_EQ(sources[1].holder.span_begin, 4u);
  EXPECT_EQ(sources[1].holder.span_end, 6u);
  EXPECT_EQ(sources[1].base, Sequence(3));
  EXPECT_FALSE(sources[1].results_from.is_set());
}

// A life ended once because both that had its next result were folding.
TEST(RetentionTest, AWorkerThatFoldsOffersItsResults) {
  JobBench bench;
  bench.AddReplica("a", {"w0"});
  HoldBase(bench, "w0", 22);
  FragmentFacts& facts = bench.Fragment("w0");
  facts.anchor_hashes.clear();
  facts.first_result_kept = Sequence(19);
  facts.applied = Sequence(22);
  facts.stored_through = Sequence(23);
  bench.AddWorker("w1", "b");
  const auto sources =
      Servers(bench.job, bench.workers, FragmentId(0))
          .For("w1", 0, 8, /*with_base=*/false, bench.options.sources_max);
  ASSERT_EQ(sources.size(), 1u);
  EXPECT_EQ(sources[0].holder.span_end, 8u);
  EXPECT_EQ(sources[0].base, Sequence(22));
  EXPECT_EQ(sources[0].results_from, Sequence(19));
  EXPECT_EQ(sources[0].results_through, Sequence(23));
}

TEST(RetentionTest, SourcesHoldWantedSpansAndAreBounded) {
  JobBench bench;
  bench.AddReplica("a", {"w0", "w1"});
  HoldBase(bench, "w0", 4);
  HoldBase(bench, "w1", 8);
  bench.AddWorker("w2", "b");
  const auto sources = [&](uint32_t begin, uint32_t end) {
    return Servers(bench.job, bench.workers, FragmentId(0))
        .For("w2", begin, end, true, bench.options.sources_max);
  };
  EXPECT_EQ(sources(0, 8).size(), 2u);
  EXPECT_EQ(sources(0, 8)[0].base, Sequence(8));
  ASSERT_EQ(sources(0, 4).size(), 1u);
  EXPECT_EQ(sources(0, 4)[0].holder.peer.worker, "w0");
  EXPECT_EQ(sources(0, 4)[0].base_hashes.size(), 4u);
  bench.options.sources_max = 1;
  EXPECT_EQ(sources(0, 8).size(), 1u);
}

}  // namespace
}  // namespace skerry::coordinator
