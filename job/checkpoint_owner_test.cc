#include "job/checkpoint_owner.h"

#include "gtest/gtest.h"

namespace skerry::job {
namespace {

TEST(CheckpointOwnerTest, FolderJobAndCureAreNamed) {
  EXPECT_EQ(CheckpointOwnerText("/saved", "bible", JobId(7)),
            "/saved has checkpoints of job bible (number 7); give each job a "
            "folder of its own");
}

}  // namespace
}  // namespace skerry::job
