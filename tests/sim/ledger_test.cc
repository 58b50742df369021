#include "tests/sim/ledger.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace skerry::sim {
namespace {

Verdict VerdictOf(const Schedule& schedule, std::string violation = "") {
  Verdict verdict;
  verdict.seed = schedule.seed;
  verdict.profile = schedule.profile;
  verdict.events = 100 + schedule.seed;
  verdict.commits = 7;
  verdict.took_ms = 5000;
  verdict.resumed_ms = 250;
  verdict.violation = std::move(violation);
  return verdict;
}

Tally Campaign(uint64_t first, uint64_t count) {
  Tally tally(first);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const Schedule schedule = DrawSchedule(seed);
    tally.Add(schedule,
              VerdictOf(schedule, seed % 50 == 3 ? "it broke\nmore" : ""));
  }
  return tally;
}

TEST(LedgerTest, IsReadAsItWasWritten) {
  const std::vector<Tally> ledger = {Campaign(1, 60), Campaign(61, 20)};
  const std::string text = ToText(ledger);
  const auto read = LedgerFromText(text);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(ToText(*read), text);
  EXPECT_EQ((*read)[0].passed(), 58u);
  EXPECT_EQ((*read)[0].failed().at(53).violation, "it broke");
}

TEST(LedgerTest, ACampaignGoesOnBehindTheLast) {
  EXPECT_EQ(NextSeed({}), 1u);
  EXPECT_EQ(NextSeed({Campaign(1, 60), Campaign(61, 20)}), 81u);
}

TEST(LedgerTest, FaultsAreCountedByKind) {
  Tally tally(1);
  Schedule schedule = DrawSchedule(1);
  schedule.faults = {{{}, FaultKind::kKill}, {{}, FaultKind::kKill}};
  tally.Add(schedule, VerdictOf(schedule));
  EXPECT_EQ(tally.faults()[static_cast<size_t>(FaultKind::kKill)], 2u);
  EXPECT_NE(ReliabilityPage({tally}, {}, {}).find("| kill | 2 |"),
            std::string::npos);
}

TEST(LedgerTest, AnotherLineIsRefused) {
  EXPECT_FALSE(LedgerFromText("profile quiet 1 1 1 0 1 0 0 0 0 0 0\n").ok());
  EXPECT_FALSE(LedgerFromText("campaign 1\nprofile quiet 1\n").ok());
  EXPECT_FALSE(LedgerFromText("campaign 1\nnonsense\n").ok());
}

}  // namespace
}  // namespace skerry::sim
