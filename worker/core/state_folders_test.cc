#include "worker/core/state_folders.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::worker {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr StoredJobKey kOne{JobId(1), 11};
constexpr StoredJobKey kTwo{JobId(2), 22};
// Another coordinator gave number 1 to this job.
constexpr StoredJobKey kOther{JobId(1), 99};
constexpr int64_t kHourMs = 3600 * 1000;
constexpr EndedRetention kKeep{absl::Hours(10), 1000};

StateFolders Three() {
  StateFolders folders(kKeep);
  folders.OnListed({{kOne, 600, 0}, {kTwo, 600, 0}, {kOther, 5000, 0}});
  return folders;
}

TEST(StateFoldersTest, ADeletedJobGoesAtOnceAndNothingElse) {
  StateFolders folders = Three();
  folders.OnOrders({.live = {kTwo}, .ended = {}, .removed = {kOne}}, 1);
  EXPECT_THAT(folders.TakeRemovable(1), ElementsAre(kOne));
  EXPECT_THAT(folders.TakeRemovable(1), IsEmpty());
  EXPECT_FALSE(folders.MayOpen(kOne, false));
  folders.OnRemoved(kOne, true);
  EXPECT_THAT(folders.Report(),
              ElementsAre(StoredJob{kOther, 5000, 0}, StoredJob{kTwo, 600, 0}));
}

TEST(StateFoldersTest, AnEndedJobIsKeptForItsAge) {
  StateFolders folders = Three();
  folders.OnOrders({.live = {}, .ended = {kOne}, .removed = {}}, kHourMs);
  EXPECT_THAT(folders.TakeMarks(), ElementsAre(StoredJob{kOne, 600, kHourMs}));
  EXPECT_THAT(folders.TakeRemovable(10 * kHourMs), IsEmpty());
  folders.OnOrders({.live = {}, .ended = {kOne}, .removed = {}}, 9 * kHourMs);
  EXPECT_THAT(folders.TakeMarks(), IsEmpty());
  EXPECT_THAT(folders.TakeRemovable(11 * kHourMs), ElementsAre(kOne));
}

TEST(StateFoldersTest, TheOldestGoFirstWhereTheyAreTooLarge) {
  StateFolders folders = Three();
  folders.OnOrders({.live = {}, .ended = {kTwo}, .removed = {}}, 1000);
  folders.OnOrders({.live = {}, .ended = {kOne, kTwo}, .removed = {}}, 2000);
  EXPECT_THAT(folders.TakeRemovable(2000), ElementsAre(kTwo));
  EXPECT_THAT(folders.TakeRemovable(2000), IsEmpty());
}

TEST(StateFoldersTest, WhatIsSaidCountsForOneSession) {
  StateFolders folders = Three();
  folders.OnOrders({.live = {}, .ended = {kOne}, .removed = {kTwo}}, 1000);
  folders.OnSessionEnd();
  EXPECT_THAT(folders.TakeRemovable(1000 * kHourMs), IsEmpty());
  // The next coordinator knows neither.
  folders.OnOrders({}, 2000);
  EXPECT_THAT(folders.TakeRemovable(1000 * kHourMs), IsEmpty());
}

TEST(StateFoldersTest, AJobThatGoesOnAfterAllIsNoLongerOld) {
  StateFolders folders = Three();
  folders.OnOrders({.live = {}, .ended = {kOne}, .removed = {}}, 1000);
  folders.TakeMarks();
  folders.OnOrders({.live = {kOne}, .ended = {}, .removed = {}}, 2000);
  EXPECT_THAT(folders.TakeMarks(), ElementsAre(StoredJob{kOne, 600, 0}));
  EXPECT_THAT(folders.TakeRemovable(1000 * kHourMs), IsEmpty());
  folders.OnOrders({.live = {}, .ended = {kOne}, .removed = {}}, 20 * kHourMs);
  EXPECT_THAT(folders.TakeRemovable(29 * kHourMs), IsEmpty());
}

TEST(StateFoldersTest, WhatWasRemovedIsNotTakenUpAgain) {
  StateFolders folders = Three();
  EXPECT_TRUE(folders.MayOpen(kOne, true));
  EXPECT_TRUE(folders.MayOpen({JobId(5), 5}, false));
  EXPECT_FALSE(folders.MayOpen({JobId(5), 5}, true));
  folders.OnOpened({JobId(5), 5});
  EXPECT_TRUE(folders.MayOpen({JobId(5), 5}, true));
}

TEST(StateFoldersTest, ARemovalThatFailedIsTriedAgain) {
  StateFolders folders = Three();
  folders.OnOrders({.live = {}, .ended = {}, .removed = {kOne}}, 1);
  EXPECT_THAT(folders.TakeRemovable(1), ElementsAre(kOne));
  folders.OnRemoved(kOne, false);
  EXPECT_THAT(folders.TakeRemovable(1), ElementsAre(kOne));
}

}  // namespace
}  // namespace skerry::worker
