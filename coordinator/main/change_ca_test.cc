#include "coordinator/main/change_ca.h"

#include <string>

#include "coordinator/service/cluster_identity.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/testing/memory_files.h"

namespace skerry::coordinator {
namespace {

using testing::HasSubstr;

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);
const CaChangeArguments kReplace{CaChange::kReplace, "/state"};
const CaChangeArguments kRetire{CaChange::kRetire, "/state"};

TEST(ChangeCaTest, ArgumentsAreReadAndOthersRefused) {
  const auto good =
      ParseCaChange(CaChange::kRetire, {"--state", "/state", "--at-once"});
  ASSERT_TRUE(good.arguments.has_value()) << good.text;
  EXPECT_EQ(good.arguments->state, "/state");
  EXPECT_TRUE(good.arguments->at_once);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{},
        {"--state", ""},
        {"--state", "/s", "more"},
        {"--state", "/state", "--at-once"}}) {
    const auto bad = ParseCaChange(CaChange::kReplace, words);
    EXPECT_FALSE(bad.arguments.has_value());
    EXPECT_EQ(bad.code, ExitCode::kUsage);
  }
}

TEST(ChangeCaTest, TheFolderHasToHaveACluster) {
  runtime::MemoryFiles files;
  for (const CaChangeArguments& arguments : {kReplace, kRetire}) {
    const absl::Status refused = ChangeCa(arguments, kNow, files).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(refused));
    EXPECT_THAT(std::string(refused.message()),
                HasSubstr("/state has no cluster; make one with"));
  }
}

TEST(ChangeCaTest, OneIsReplacedThenRetired) {
  runtime::MemoryFiles files;
  auto made =
      ClusterIdentity::Make("/state", {"lab", 1, "10.0.0.1:7443"}, kNow, files);
  ASSERT_TRUE(made.ok() && made->Finish().ok()) << made.status();
  const auto replaced = ChangeCa(kReplace, kNow, files);
  ASSERT_TRUE(replaced.ok()) << replaced.status();
  EXPECT_THAT(*replaced, HasSubstr("retire-ca --state /state"));
  const auto retired = ChangeCa(kRetire, kNow + absl::Hours(26), files);
  ASSERT_TRUE(retired.ok()) << retired.status();
  EXPECT_THAT(*retired,
              HasSubstr(ClusterIdentity::Open("/state", files)->pin()));
}

}  // namespace
}  // namespace skerry::coordinator
