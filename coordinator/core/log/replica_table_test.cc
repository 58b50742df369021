#include "coordinator/core/log/replica_table.h"

#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

ReplicaAdmitted Of(const std::string& island, uint64_t replica) {
  return {JobId(1),
          ReplicaId(replica),
          island,
          {{0, 8, {island + "-w", "h:1", ""}, 0}},
          {Incarnation(3)}};
}

TEST(ReplicaTableTest, AnIslandHasOneLifeAtATime) {
  ReplicaTable table;
  ASSERT_TRUE(table.Apply(Life(5), Of("a", 1)).ok());
  EXPECT_FALSE(table.Apply(Life(6), Of("a", 1)).ok());
  ASSERT_TRUE(table.Apply(ReplicaEnded{JobId(1), Life(5), ""}).ok());
  EXPECT_TRUE(table.Apply(Life(7), Of("a", 1)).ok());
  EXPECT_EQ(table.lives(), 2u);
}

TEST(ReplicaTableTest, AnIslandKeepsItsNumberThroughItsLives) {
  ReplicaTable table;
  ASSERT_TRUE(table.Apply(Life(5), Of("b", 1)).ok());
  EXPECT_EQ(table.NumberOf("a"), ReplicaId(2));
  ASSERT_TRUE(table.Apply(ReplicaEnded{JobId(1), Life(5), ""}).ok());
  EXPECT_EQ(table.NumberOf("b"), ReplicaId(1));
  EXPECT_FALSE(table.Apply(Life(6), Of("b", 2)).ok());
}

TEST(ReplicaTableTest, ALifeEndsOnce) {
  ReplicaTable table;
  ASSERT_TRUE(table.Apply(Life(5), Of("b", 1)).ok());
  ASSERT_TRUE(table.Apply(ReplicaEnded{JobId(1), Life(5), ""}).ok());
  EXPECT_EQ(table.Apply(ReplicaEnded{JobId(1), Life(5), ""}).code(),
            absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace skerry::coordinator
