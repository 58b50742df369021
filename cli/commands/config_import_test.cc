#include "cli/commands/config_import.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "identity/operator_bundle.h"
#include "identity/x509/authority.h"
#include "identity/x509/identity_folder.h"
#include "runtime/testing/memory_files.h"

namespace skerry::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);
constexpr char kConfig[] = "/home/eve/.config/skerry/config.yaml";

identity::OperatorBundle BundleOf(
    const decltype(identity::Name::who)& who = identity::OperatorName{
        identity::Role::kAdmin, "eve"}) {
  const auto authority =
      *identity::Authority::Make("lab", absl::Hours(24 * 3650), kNow);
  const auto key = *identity::PrivateKey::Make();
  const std::string ca = authority.certificate().Pem();
  return {.address = "10.0.0.1:7443",
          .authorities = ca,
          .chain = authority
                       .Issue({"lab", who}, key.Public(), absl::Hours(24), kNow)
                       ->Pem() +
                   ca,
          .key = key.Pem()};
}

absl::StatusOr<Context> Import(const identity::OperatorBundle& bundle,
                               runtime::Files& files, absl::Time now = kNow) {
  return ImportBundle("b.yaml", identity::FormatBundle(bundle, "eve"), "",
                      kConfig, now, files);
}

TEST(ConfigImportTest, ABundleBecomesTheCurrentContext) {
  runtime::MemoryFiles files;
  const identity::OperatorBundle bundle = BundleOf();
  const auto context = Import(bundle, files);
  ASSERT_TRUE(context.ok()) << context.status();
  EXPECT_EQ(context->name, "lab");
  EXPECT_EQ(context->coordinator, "10.0.0.1:7443");
  const auto config = ReadConfig(kConfig, files);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->current, "lab");
  EXPECT_EQ(*config->Find("lab"), *context);
  const auto kept =
      identity::ReadIdentity("/home/eve/.config/skerry/identities/lab", files);
  ASSERT_TRUE(kept.ok()) << kept.status();
  EXPECT_EQ(kept->key, bundle.key);
  EXPECT_TRUE(files.Read(context->ca).ok());
  EXPECT_TRUE(files.Read(context->certificate).ok());
  EXPECT_TRUE(files.Read(context->key).ok());
}

TEST(ConfigImportTest, WhatCannotBeUsedIsRefusedInOneLine) {
  runtime::MemoryFiles files;
  const auto refused = [&](const identity::OperatorBundle& bundle,
                           absl::Time now = kNow) {
    const absl::Status status = Import(bundle, files, now).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    const std::string line(status.message());
    EXPECT_THAT(line, StartsWith("b.yaml: "));
    EXPECT_THAT(line, Not(HasSubstr("\n")));
    return line;
  };
  EXPECT_THAT(refused(BundleOf(), kNow + absl::Hours(25)),
              HasSubstr("has expired"));
  identity::OperatorBundle other = BundleOf();
  other.key = BundleOf().key;
  EXPECT_THAT(refused(other), HasSubstr("it is not the key"));
  EXPECT_THAT(refused(BundleOf(identity::CoordinatorName())),
              HasSubstr("not that of an operator"));
  other = BundleOf();
  other.address = "10.0.0.1";
  refused(other);
  EXPECT_EQ(files.changes(), 0u);
}

}  // namespace
}  // namespace skerry::cli
