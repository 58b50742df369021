// The faults of PROTOCOL 9 that take disks with them: where the job goes back
// to, and what leaves nothing to go back from.
#include <vector>

#include "coordinator/core/log/records.h"
#include "gtest/gtest.h"
#include "planner/span_alignment.h"
#include "tests/sim/fault_table.h"

namespace skerry::sim {
namespace {

using coordinator::Checkpointed;
using coordinator::Committed;
using coordinator::Restored;

class DisksGoneTest : public FaultTableTest {
 protected:
  static constexpr uint32_t kEvery = 4;

  explicit DisksGoneTest(const std::vector<std::string>& islands = {"a", "b"})
      : FaultTableTest(Saved(islands)) {}
  static Schedule Saved(const std::vector<std::string>& islands) {
    Schedule schedule = Calm(islands);
    schedule.jobs[0].checkpoint_every = kEvery;
    schedule.jobs[0].keep = 2;
    schedule.jobs[0].elements = planner::SpanAlignment() + 64;
    return schedule;
  }

  Sequence Newest() const {
    const auto commits = All<Committed>();
    return commits.empty() ? Sequence() : commits.back().second.sequence;
  }
  // Two commits after the newest checkpoint, which is not the first.
  bool IsSavedAndGoesOn() {
    return Until([&] {
      const auto saved = All<Checkpointed>();
      return saved.size() >= 2 &&
             Newest() >= Sequence(saved.back().second.sequence.value() + 2);
    });
  }
  void LoseDisks(const std::vector<HostId>& hosts) {
    for (const HostId host : hosts) {
      Inject(FaultKind::kDiskLoss, host, absl::Seconds(1));
    }
  }
  std::vector<Restored> GoesBack() {
    EXPECT_TRUE(Until([&] { return !All<Restored>().empty(); }));
    EndsWell();
    std::vector<Restored> all;
    for (const auto& [index, restored] : All<Restored>()) {
      all.push_back(restored);
    }
    return all;
  }
};

TEST_F(DisksGoneTest, DisksThatAreGoneTakeTheJobBackToItsCheckpoint) {
  ASSERT_TRUE(IsSavedAndGoesOn());
  const Sequence saved = All<Checkpointed>().back().second.sequence;
  const Sequence newest = Newest();
  LoseDisks({1, 2});
  const std::vector<Restored> back = GoesBack();
  ASSERT_EQ(back.size(), 1u);
  EXPECT_EQ(back[0].checkpoint, saved);
  EXPECT_EQ(back[0].sequence, Next(newest));
}

TEST_F(DisksGoneTest, BeforeAnythingIsSavedItBeginsAgain) {
  ASSERT_TRUE(Until([&] { return Newest() == Sequence(2); }));
  LoseDisks({1, 2});
  const std::vector<Restored> back = GoesBack();
  ASSERT_EQ(back.size(), 1u);
  EXPECT_FALSE(back[0].checkpoint.is_set());
}

TEST_F(DisksGoneTest, ACoordinatorThatDiesMeanwhileGoesBackOnce) {
  ASSERT_TRUE(IsSavedAndGoesOn());
  LoseDisks({1, 2});
  ASSERT_TRUE(Until([&] { return !All<Restored>().empty(); }));
  Inject(FaultKind::kKill, kCoordinator, absl::Milliseconds(200));
  EXPECT_EQ(GoesBack().size(), 1u);
}

TEST_F(DisksGoneTest, DisksThatAreGoneAgainTakeItBackAgain) {
  ASSERT_TRUE(IsSavedAndGoesOn());
  LoseDisks({1, 2});
  ASSERT_TRUE(Until([&] { return !All<Restored>().empty(); }));
  const Sequence first = All<Restored>()[0].second.sequence;
  ASSERT_TRUE(Until([&] { return Newest() > first; }));
  LoseDisks({1, 2});
  ASSERT_TRUE(Until([&] { return All<Restored>().size() == 2; }));
  EndsWell();
}

class HalfOfTheModelTest : public DisksGoneTest {
 protected:
  HalfOfTheModelTest() : DisksGoneTest({"a", "a", "b", "b"}) {}
};

TEST_F(HalfOfTheModelTest, SpansThatNobodyHasTakeAllOfItBack) {
  ASSERT_TRUE(IsSavedAndGoesOn());
  // The second worker of each island has the second span.
  LoseDisks({2, 4});
  const std::vector<Restored> back = GoesBack();
  ASSERT_EQ(back.size(), 1u);
  EXPECT_TRUE(back[0].checkpoint.is_set());
}

}  // namespace
}  // namespace skerry::sim
