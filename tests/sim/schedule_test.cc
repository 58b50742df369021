#include "tests/sim/schedule.h"

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "job/review.h"
#include "planner/spans.h"
#include "tests/sim/job_specs.h"
#include "tests/sim/shrink.h"

namespace skerry::sim {
namespace {

using ::testing::HasSubstr;

TEST(ScheduleTest, TextSaysAllOfIt) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const Schedule drawn = DrawSchedule(seed);
    const auto read = ScheduleFromText(ToText(drawn));
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(ToText(*read), ToText(drawn));
    EXPECT_EQ(read->faults, drawn.faults);
    EXPECT_EQ(read->calm_at, drawn.calm_at);
    EXPECT_EQ(read->workers.size(), drawn.workers.size());
    EXPECT_EQ(read->language_model, drawn.language_model);
    EXPECT_EQ(HasPrograms(*read), HasPrograms(drawn));
  }
}

TEST(ScheduleTest, OneInTwentyTrainsALanguageModel) {
  int drawn = 0;
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    drawn += DrawSchedule(seed).language_model ? 1 : 0;
  }
  EXPECT_GE(drawn, 80);
  EXPECT_LE(drawn, 120);
}

TEST(ScheduleTest, OneInSevenTrainsPrograms) {
  int drawn = 0;
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    drawn += HasPrograms(DrawSchedule(seed)) ? 1 : 0;
  }
  EXPECT_GE(drawn, 240);
  EXPECT_LE(drawn, 330);
}

TEST(ScheduleTest, HalfOfThemHaveAveragedValues) {
  int drawn = 0;
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    const Schedule schedule = DrawSchedule(seed);
    if (!HasAverages(schedule)) continue;
    ++drawn;
    EXPECT_TRUE(HasPrograms(schedule));
    for (const JobShape& job : schedule.jobs) {
      const auto cut = planner::CutFragments(job.elements, job.fragments,
                                             job.spans, job.average_begin);
      EXPECT_TRUE(cut.ok()) << cut.status();
    }
    const auto read = ScheduleFromText(ToText(schedule));
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->jobs[0].average_begin, schedule.jobs[0].average_begin);
  }
  EXPECT_GE(drawn, 110);
  EXPECT_LE(drawn, 180);
}

// Faults that stand for operators' mistakes are drawn in few profiles.
TEST(ScheduleTest, EveryKindOfFaultIsDrawn) {
  std::map<FaultKind, int> drawn;
  int without_validation = 0;
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    const Schedule schedule = DrawSchedule(seed);
    for (const Fault& fault : schedule.faults) ++drawn[fault.kind];
    without_validation += schedule.jobs[0].validation_samples == 0 ? 1 : 0;
  }
  for (int kind = 0; kind < kFaultKindCount; ++kind) {
    EXPECT_GE(drawn[static_cast<FaultKind>(kind)], 20) << "kind " << kind;
  }
  EXPECT_GE(without_validation, 160);
  EXPECT_LE(without_validation, 240);
}

TEST(ScheduleTest, EveryJobIsOneThatACoordinatorTakes) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const Schedule drawn = DrawSchedule(seed);
    for (uint32_t i = 0; i < drawn.jobs.size(); ++i) {
      const auto reviewed = job::ReviewJobSpec(SpecOf(drawn.jobs[i], i));
      EXPECT_TRUE(reviewed.ok()) << reviewed.status();
    }
  }
}

TEST(ScheduleTest, AProfileSwitchesClassesOff) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    EXPECT_TRUE(DrawSchedule(seed, "quiet")->faults.empty());
    const auto drawn = DrawSchedule(seed, "partitions");
    for (const Fault& fault : drawn->faults) {
      EXPECT_GE(fault.kind, FaultKind::kCut) << ToText(fault);
      EXPECT_LE(fault.kind, FaultKind::kSlowLink) << ToText(fault);
    }
  }
  EXPECT_FALSE(DrawSchedule(1, "nonsense").ok());
}

TEST(ScheduleTest, ABadLineIsNamed) {
  const auto read = ScheduleFromText("seed 1\nprofile all\nfault 5 eat 1\n");
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.status().message().find("eat"), absl::string_view::npos);
}

// Whoever copies the faults alone must not get another schedule.
TEST(ScheduleTest, ATextThatHasLostALineIsRefused) {
  const std::string text = ToText(*DrawSchedule(28159, "saved"));
  ASSERT_TRUE(ScheduleFromText(text).ok());
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  ASSERT_GT(lines.size(), 12u);
  for (size_t i = 0; i + 1 < lines.size(); ++i) {
    std::vector<std::string> fewer = lines;
    fewer.erase(fewer.begin() + static_cast<ptrdiff_t>(i));
    const auto read = ScheduleFromText(absl::StrJoin(fewer, "\n"));
    ASSERT_FALSE(read.ok()) << "without: " << lines[i];
    const std::string word = lines[i].substr(0, lines[i].find(' '));
    EXPECT_THAT(std::string(read.status().message()), HasSubstr(word));
  }
}

TEST(ScheduleTest, ATextOfSeedAndProfileAloneIsWhatTheyDraw) {
  const auto read = ScheduleFromText("# why\nseed 28159\nprofile saved\n");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(ToText(*read), ToText(*DrawSchedule(28159, "saved")));
  EXPECT_FALSE(
      ScheduleFromText("seed 1\nprofile saved\nfault 5 kill 1 0 9 0\n").ok());
}

TEST(ScheduleTest, AScheduleWithoutFaultsStaysWithoutFaults) {
  Schedule none = *DrawSchedule(28159, "saved");
  none.faults.clear();
  const auto read = ScheduleFromText(ToText(none));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(read->faults.empty());
}

TEST(ShrinkTest, OnlyTheFaultsThatMatterAreLeft) {
  Schedule schedule;
  for (uint32_t i = 0; i < 40; ++i) {
    schedule.faults.push_back({.kind = FaultKind::kKill, .host = i});
  }
  int runs = 0;
  const Schedule shrunk = Shrink(schedule, [&runs](const Schedule& fewer) {
    ++runs;
    int needed = 0;
    for (const Fault& fault : fewer.faults) {
      needed += fault.host == 3 || fault.host == 31;
    }
    return needed == 2;
  });
  ASSERT_EQ(shrunk.faults.size(), 2u);
  EXPECT_EQ(shrunk.faults[0].host, 3u);
  EXPECT_EQ(shrunk.faults[1].host, 31u);
  EXPECT_LT(runs, 100);
}

}  // namespace
}  // namespace skerry::sim
