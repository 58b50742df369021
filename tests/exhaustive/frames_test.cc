// Every order of frames, work and words in one exchange, on the workers' real
// fragments.
#include "gtest/gtest.h"
#include "tests/exhaustive/expect.h"
#include "tests/exhaustive/frame_scenarios.h"

namespace skerry::exhaustive {
namespace {

TEST(FramesTest, PartsInAnyOrderAndAgain) {
  ExpectEveryOrder<FrameModel>("parts in any order and again",
                               PartsInAnyOrderAndAgain());
}

TEST(FramesTest, OneHop) { ExpectEveryOrder<FrameModel>("one hop", OneHop()); }

TEST(FramesTest, AttemptsThatReplaceEachOther) {
  ExpectEveryOrder<FrameModel>("attempts that replace each other",
                               AttemptsThatReplaceEachOther());
}

TEST(FramesTest, AttemptsOfMany) {
  ExpectEveryOrder<FrameModel>("attempts of many", AttemptsOfMany());
}

TEST(FramesTest, ALateMember) {
  ExpectEveryOrder<FrameModel>("a late member", ALateMember());
}

TEST(FramesTest, AReplicaOfTwo) {
  ExpectEveryOrder<FrameModel>("a replica of two", AReplicaOfTwo());
}

}  // namespace
}  // namespace skerry::exhaustive
