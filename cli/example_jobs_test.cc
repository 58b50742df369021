#include <string>

#include "cli/job_file.h"
#include "gtest/gtest.h"

namespace skerry::cli {
namespace {

TEST(ExampleJobsTest, TheExamplesOfProgramsAreRead) {
  for (const std::string name : {"cnn", "fsdp2", "lora"}) {
    const auto file = ReadJobFile("examples/" + name + "/job.yaml");
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_EQ(file->spec.model().program().name(), name);
  }
}

}  // namespace
}  // namespace skerry::cli
