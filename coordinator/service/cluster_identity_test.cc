#include "coordinator/service/cluster_identity.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "identity/x509/identity_folder.h"
#include "runtime/testing/memory_files.h"

namespace skerry::coordinator {
namespace {

using testing::HasSubstr;

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);
const ClusterFacts kFacts{"lab", 0xfeed, "10.0.0.1:7443"};

absl::StatusOr<ClusterIdentity> MakeWhole(runtime::Files& files) {
  auto made = ClusterIdentity::Make("/state", kFacts, kNow, files);
  if (!made.ok()) return made;
  const absl::Status finished = made->Finish();
  if (!finished.ok()) return finished;
  return made;
}

identity::CheckedIdentity OwnOf(const runtime::Files& files, absl::Time now) {
  auto checked = identity::CheckIdentity(
      *identity::ReadIdentity("/state/credentials", files), now);
  EXPECT_TRUE(checked.ok()) << checked.status();
  return *std::move(checked);
}

TEST(ClusterIdentityTest, IsOpenedAsItWasMade) {
  runtime::MemoryFiles files;
  const auto made = MakeWhole(files);
  ASSERT_TRUE(made.ok()) << made.status();
  const auto opened = ClusterIdentity::Open("/state", files);
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(opened->facts(), kFacts);
  EXPECT_EQ(opened->pin(), made->pin());
  EXPECT_EQ(opened->authorities(), made->authorities());
  const identity::CheckedIdentity own = OwnOf(files, kNow);
  EXPECT_EQ(own.name, (identity::Name{"lab", identity::CoordinatorName()}));
  EXPECT_EQ(own.chain.size(), 2u);
}

TEST(ClusterIdentityTest, ASecondClusterIsRefused) {
  runtime::MemoryFiles files;
  const auto made = MakeWhole(files);
  const absl::Status again =
      ClusterIdentity::Make("/state", {"other", 1, "10.0.0.1:7443"}, kNow,
                            files)
          .status();
  EXPECT_TRUE(absl::IsAlreadyExists(again));
  EXPECT_THAT(std::string(again.message()), HasSubstr("has a cluster already"));
  EXPECT_EQ(ClusterIdentity::Open("/state", files)->pin(), made->pin());
}

TEST(ClusterIdentityTest, FactsThatCannotBeAreRefused) {
  runtime::MemoryFiles files;
  for (const ClusterFacts& facts : {ClusterFacts{"Lab", 1, "10.0.0.1:7443"},
                                    {"", 1, "10.0.0.1:7443"},
                                    {"lab", 1, "10.0.0.1"},
                                    {"lab", 1, "10.0.0.1:0"}}) {
    EXPECT_TRUE(absl::IsInvalidArgument(
        ClusterIdentity::Make("/state", facts, kNow, files).status()));
  }
  EXPECT_EQ(files.changes(), 0u);
}

TEST(ClusterIdentityTest, PowerMayFailInAnyWrite) {
  for (int before = 0;; ++before) {
    runtime::MemoryFiles files;
    files.FailChangesAfter(before, absl::ResourceExhaustedError("full"));
    const bool done = MakeWhole(files).ok();
    files.FailChangesAfter(0, absl::OkStatus());
    if (done) break;
    EXPECT_TRUE(
        absl::IsNotFound(ClusterIdentity::Open("/state", files).status()));
    ASSERT_TRUE(MakeWhole(files).ok());
    OwnOf(files, kNow);
  }
}

TEST(ClusterIdentityTest, TheOwnCertificateIsRenewedAtTwoThirds) {
  runtime::MemoryFiles files;
  auto made = MakeWhole(files);
  const identity::CheckedIdentity first = OwnOf(files, kNow);
  const absl::Time before = kNow + absl::Hours(24 * 59);
  EXPECT_FALSE(*made->RenewOwn(before));
  const absl::Time due = kNow + absl::Hours(24 * 60);
  EXPECT_TRUE(*made->RenewOwn(due));
  const identity::CheckedIdentity second = OwnOf(files, due);
  EXPECT_NE(second.chain[0].serial(), first.chain[0].serial());
  EXPECT_EQ(second.key.Public().Sha256(), first.key.Public().Sha256());
  EXPECT_FALSE(*made->RenewOwn(due));
}

TEST(ClusterIdentityTest, AReplacedCaIsTakenIntoUse) {
  runtime::MemoryFiles files;
  const auto running = MakeWhole(files);
  const identity::CheckedIdentity first = OwnOf(files, kNow);
  const std::string mark = running->mark();
  EXPECT_EQ(
      *identity::MarkOf(*identity::ReadIdentity("/state/credentials", files)),
      mark);
  EXPECT_FALSE(*running->Reload());
  ASSERT_TRUE(ReplaceAuthority("/state", kNow, files).ok());
  EXPECT_TRUE(*running->Reload());
  EXPECT_NE(running->mark(), mark);
  EXPECT_TRUE(*running->RenewOwn(kNow));
  const identity::CheckedIdentity second = OwnOf(files, kNow);
  EXPECT_EQ(second.authorities.size(), 2u);
  EXPECT_EQ(
      *identity::MarkOf(*identity::ReadIdentity("/state/credentials", files)),
      running->mark());
  // Who trusts the first CA alone believes the coordinator.
  EXPECT_TRUE(CheckChain(second.chain, first.authorities, kNow).ok());
  const absl::Time later = kNow + kRetireAfter;
  ASSERT_TRUE(RetireAuthority("/state", false, later, files).ok());
  EXPECT_TRUE(*running->Reload());
  EXPECT_TRUE(*running->RenewOwn(later));
  EXPECT_EQ(OwnOf(files, later).authorities.size(), 1u);
  // What cannot be read changes nothing.
  const std::string text = "nonsense\n";
  ASSERT_TRUE(files
                  .WriteDurably("/state/authority-2/cert.pem",
                                std::as_bytes(std::span(text)))
                  .ok());
  const std::string pin = running->pin();
  EXPECT_FALSE(running->Reload().ok());
  EXPECT_EQ(running->pin(), pin);
}

TEST(ClusterIdentityTest, TheOwnCertificateFollowsTheCaWheneverPowerFails) {
  for (int before = 0;; ++before) {
    runtime::MemoryFiles files;
    const auto made = MakeWhole(files);
    ASSERT_TRUE(ReplaceAuthority("/state", kNow, files).ok());
    ASSERT_TRUE(*made->Reload());
    ASSERT_TRUE(*made->RenewOwn(kNow));
    ASSERT_TRUE(RetireAuthority("/state", true, kNow, files).ok());
    ASSERT_TRUE(*made->Reload());
    files.FailChangesAfter(before, absl::ResourceExhaustedError("full"));
    const bool done = made->RenewOwn(kNow).ok();
    files.FailChangesAfter(0, absl::OkStatus());
    const auto again = ClusterIdentity::Open("/state", files);
    ASSERT_TRUE(again.ok() && again->RenewOwn(kNow).ok());
    EXPECT_EQ(
        *identity::MarkOf(*identity::ReadIdentity("/state/credentials", files)),
        again->mark())
        << before;
    if (done) break;
  }
}

TEST(ClusterIdentityTest, DamagedFilesAreNamed) {
  for (const char* path : {"/state/cluster", "/state/authority/key.pem",
                           "/state/authority/cert.pem"}) {
    runtime::MemoryFiles files;
    ASSERT_TRUE(MakeWhole(files).ok());
    const std::string text = "nonsense\n";
    ASSERT_TRUE(files.WriteDurably(path, std::as_bytes(std::span(text))).ok());
    const absl::Status refused =
        ClusterIdentity::Open("/state", files).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
    EXPECT_THAT(std::string(refused.message()), HasSubstr("/state/"));
    EXPECT_THAT(std::string(refused.message()), HasSubstr("backup"));
    ASSERT_TRUE(files.Remove(path).ok());
    EXPECT_FALSE(ClusterIdentity::Open("/state", files).ok());
  }
}

}  // namespace
}  // namespace skerry::coordinator
