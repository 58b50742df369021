// What is folded before a boundary asks for it.
#include "gtest/gtest.h"
#include "worker/core/recovery.h"
#include "worker/core/testing/recovery_fixture.h"

namespace skerry::worker {
namespace {

class RecoveryFoldsTest : public RecoveryFixture {};

// A trainer that waits at a boundary need not wait for the fold.
TEST_F(RecoveryFoldsTest, AResultIsFoldedBeforeItIsAskedFor) {
  recovery_.SetView({Serve("a", 2, 3)}, Sequence(1));
  recovery_.SetHoldings(0, 2);
  Recover(4);
  ExpectAt(4);
  // Nothing is read any more: that would find these files damaged.
  for (auto& [file, contents] : ports_.files) {
    if (file.kind == kResult) contents.assign(2, SharedBytes());
  }
  Recover(5);
  ExpectAt(5);
  EXPECT_TRUE(ports_.deleted.empty());
}

TEST_F(RecoveryFoldsTest,
       AResultThatWasDamagedBeforeItIsAskedForIsFetchedAgain) {
  PutOnDisk(BaseKey(4, 0), SharedBytes(states_[0][4].values));
  PutOnDisk(BaseKey(4, 1), SharedBytes(states_[1][4].values));
  PutOnDisk(ResultKey(5, 0), pieces_[4]);
  PutOnDisk(ResultKey(5, 1), pieces_[3]);  // not what its hash says
  recovery_.SetView({Serve("a", 4, 5)}, Sequence(4));
  recovery_.SetHoldings(0, 2);
  Recover(4);
  ExpectAt(4);
  Recover(6);
  ExpectAt(6);
  EXPECT_EQ(ports_.deleted.size(), 1u);
}

}  // namespace
}  // namespace skerry::worker
