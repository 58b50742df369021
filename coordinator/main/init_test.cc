#include "coordinator/main/init.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/testing/memory_files.h"

namespace skerry::coordinator {
namespace {

using testing::HasSubstr;
using testing::Not;

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

TEST(InitTest, WritesABundleAndSaysThePin) {
  const ParsedInit parsed = ParseInit({"--cluster", "lab", "--state", "/state",
                                       "--advertise", "10.0.0.1:7443"});
  ASSERT_TRUE(parsed.arguments.has_value()) << parsed.text;
  runtime::MemoryFiles files;
  const auto said = Init(
      *parsed.arguments, [] { return uint64_t{7}; }, kNow, files);
  ASSERT_TRUE(said.ok()) << said.status();
  EXPECT_THAT(*said, HasSubstr("pin of its CA: sha256:"));
  EXPECT_THAT(*said, HasSubstr("config import /state/admin.yaml"));
  EXPECT_THAT(*said, Not(HasSubstr("PRIVATE KEY")));
  EXPECT_TRUE(files.Read("/state/admin.yaml").ok());
  EXPECT_TRUE(absl::IsAlreadyExists(
      Init(
          *parsed.arguments, [] { return uint64_t{8}; }, kNow, files)
          .status()));
}

TEST(InitTest, IfMissingLeavesTheSameClusterAndRefusesAnother) {
  runtime::MemoryFiles files;
  const auto init = [&](const std::string& cluster, const std::string& at) {
    const ParsedInit parsed =
        ParseInit({"--cluster", cluster, "--state", "/state", "--advertise", at,
                   "--if-missing"});
    return Init(
        *parsed.arguments, [] { return uint64_t{7}; }, kNow, files);
  };
  const auto made = init("lab", "10.0.0.1:7443");
  ASSERT_TRUE(made.ok()) << made.status();
  const auto bundle = files.Read("/state/admin.yaml");
  const auto again = init("lab", "10.0.0.1:7443");
  ASSERT_TRUE(again.ok()) << again.status();
  const std::string pin = made->substr(made->find("sha256:"), 71);
  EXPECT_THAT(*again, HasSubstr("pin of its CA: " + pin));
  EXPECT_EQ(*files.Read("/state/admin.yaml"), *bundle);
  for (const auto& other :
       {init("field", "10.0.0.1:7443"), init("lab", "10.0.0.2:7443")}) {
    EXPECT_TRUE(absl::IsAlreadyExists(other.status()));
    EXPECT_THAT(std::string(other.status().message()),
                HasSubstr("has the cluster lab at 10.0.0.1:7443, not"));
  }
}

TEST(InitTest, AWrongLineIsOneLineAndCodeTwo) {
  for (const auto& words : std::vector<std::vector<std::string>>{
           {},
           {"--cluster", "lab", "--state", "/s"},
           {"--cluster", "Lab", "--state", "/s", "--advertise", "a:1"},
           {"--cluster", "lab", "--state", "/s", "--advertise", "a"},
           {"--cluster", "lab", "--state", "/s", "--advertise", "a:0"}}) {
    const ParsedInit parsed = ParseInit(words);
    EXPECT_FALSE(parsed.arguments.has_value());
    EXPECT_EQ(parsed.code, ExitCode::kUsage);
    EXPECT_EQ(parsed.text.find('\n'), parsed.text.size() - 1);
  }
}

}  // namespace
}  // namespace skerry::coordinator
