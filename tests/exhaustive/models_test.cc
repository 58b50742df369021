// Every order of events within small bounds, on the coordinator's real core.
#include "gtest/gtest.h"
#include "tests/exhaustive/expect.h"
#include "tests/exhaustive/model.h"
#include "tests/exhaustive/scenarios.h"

namespace skerry::exhaustive {
namespace {

TEST(ModelsTest, AttemptsAndCommit) {
  ExpectEveryOrder<Model>("attempts and commit", AttemptsAndCommit());
}

TEST(ModelsTest, AMemberDies) {
  ExpectEveryOrder<Model>("a member dies", AMemberDies());
}

TEST(ModelsTest, AMemberIsLeftOut) {
  ExpectEveryOrder<Model>("a member is left out", AMemberIsLeftOut());
}

TEST(ModelsTest, ReplicasOfTwo) {
  ExpectEveryOrder<Model>("replicas of two", ReplicasOfTwo());
}

TEST(ModelsTest, AReplicaLosesAWorker) {
  ExpectEveryOrder<Model>("a replica loses a worker", AReplicaLosesAWorker());
}

TEST(ModelsTest, Fragments) {
  ExpectEveryOrder<Model>("fragments", Fragments());
}

TEST(ModelsTest, JoinAndRetention) {
  ExpectEveryOrder<Model>("join and retention", JoinAndRetention());
}

TEST(ModelsTest, LateWords) {
  ExpectEveryOrder<Model>("late words", LateWords());
}

TEST(ModelsTest, RestoreAfterDiskLoss) {
  ExpectEveryOrder<Model>("restore after disk loss", RestoreAfterDiskLoss());
}

TEST(ModelsTest, BeginningsOfAProgram) {
  ExpectEveryOrder<Model>("beginnings of a program", BeginningsOfAProgram());
}

TEST(ModelsTest, HashTies) { ExpectEveryOrder<Model>("hash ties", HashTies()); }

TEST(ModelsTest, OneOfThreeIsWrong) {
  ExpectEveryOrder<Model>("one of three is wrong", OneOfThreeIsWrong());
}

TEST(ModelsTest, TwoOfThreeAreWrong) {
  ExpectEveryOrder<Model>("two of three are wrong", TwoOfThreeAreWrong());
}

TEST(ModelsTest, BlameAndForgiveness) {
  ExpectEveryOrder<Model>("blame and forgiveness", BlameAndForgiveness());
}

TEST(ModelsTest, BlameOfThree) {
  ExpectEveryOrder<Model>("blame of three", BlameOfThree());
}

}  // namespace
}  // namespace skerry::exhaustive
