#include "worker/main/trainers.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/log_level.h"

namespace skerry::worker {
namespace {

using ::testing::Contains;

TEST(TrainersTest, AWorkerHandsItsLogLevelToTheTrainersThatItStarts) {
  Trainers trainers;
  trainers.engine = "skerry-trainer";
  trainers.attach = "skerry-attach";
  for (const auto& [word, level] : runtime::LogLevels()) {
    const std::string flag = "--log-level=" + word;
    EXPECT_THAT(EngineCommand(trainers, level), Contains(flag));
    EXPECT_THAT(AttachCommand(trainers, level), Contains(flag));
  }
}

}  // namespace
}  // namespace skerry::worker
