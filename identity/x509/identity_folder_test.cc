#include "identity/x509/identity_folder.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "identity/x509/authority.h"
#include "runtime/testing/memory_files.h"

namespace skerry::identity {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);
const Name kWorker{"lab", WorkerName{"west", "w1"}};

Authority NewAuthority() {
  return *Authority::Make("lab", absl::Hours(24 * 3650), kNow);
}

Identity Made(const Authority& authority, const PrivateKey& key) {
  const Certificate own =
      *authority.Issue(kWorker, key.Public(), absl::Hours(24), kNow);
  const std::string ca = authority.certificate().Pem();
  return {.authorities = ca, .chain = own.Pem() + ca, .key = key.Pem()};
}

std::string WhyNot(const Identity& identity, absl::Time now = kNow) {
  const auto checked = CheckIdentity(identity, now);
  EXPECT_TRUE(absl::IsFailedPrecondition(checked.status()));
  return std::string(checked.status().message());
}

TEST(IdentityFolderTest, IsReadAsItIsWritten) {
  runtime::MemoryFiles files;
  const PrivateKey key = *PrivateKey::Make();
  ASSERT_TRUE(
      WriteIdentity("/state/who", Made(NewAuthority(), key), files).ok());
  const auto read = ReadIdentity("/state/who", files);
  ASSERT_TRUE(read.ok()) << read.status();
  const auto checked = CheckIdentity(*read, kNow);
  ASSERT_TRUE(checked.ok()) << checked.status();
  EXPECT_EQ(checked->name, kWorker);
  EXPECT_EQ(checked->chain.size(), 2u);
  EXPECT_EQ(checked->key.Public().Sha256(), key.Public().Sha256());
}

TEST(IdentityFolderTest, EachFaultHasItsLine) {
  const Authority authority = NewAuthority();
  const PrivateKey key = *PrivateKey::Make();
  const Identity good = Made(authority, key);
  ASSERT_TRUE(CheckIdentity(good, kNow).ok());

  Identity bad = good;
  bad.key = PrivateKey::Make()->Pem();
  EXPECT_THAT(WhyNot(bad), StartsWith("key.pem: it is not the key"));
  bad = good;
  bad.authorities = NewAuthority().certificate().Pem();
  EXPECT_THAT(WhyNot(bad), StartsWith("cert.pem: the certificate: it does not "
                                      "come from a CA"));
  bad = good;
  bad.key.clear();
  EXPECT_THAT(WhyNot(bad), StartsWith("key.pem: there is no"));
  bad = good;
  bad.chain.clear();
  EXPECT_THAT(WhyNot(bad), StartsWith("cert.pem: there is no certificate"));
  bad = good;
  bad.authorities.clear();
  EXPECT_THAT(WhyNot(bad), StartsWith("ca.pem: there is no certificate"));
  EXPECT_THAT(WhyNot(good, kNow + absl::Hours(25)), HasSubstr("has expired"));
  bad = good;
  bad.chain = bad.authorities;
  bad.key = authority.key().Pem();
  EXPECT_THAT(WhyNot(bad), StartsWith("cert.pem: the certificate has 0 URIs"));
}

TEST(IdentityFolderTest, AKeyIsMadeOnce) {
  runtime::MemoryFiles files;
  const auto made = KeyOf("/state/who", files);
  ASSERT_TRUE(made.ok()) << made.status();
  const auto again = KeyOf("/state/who", files);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->Public().Sha256(), made->Public().Sha256());
}

TEST(IdentityFolderTest, ADamagedKeyIsNotReplacedUnasked) {
  runtime::MemoryFiles files;
  const std::string text = "nonsense";
  ASSERT_TRUE(files.MakeDirectory("/state/who").ok());
  ASSERT_TRUE(
      files.WriteDurably("/state/who/key.pem", std::as_bytes(std::span(text)))
          .ok());
  const absl::Status refused = KeyOf("/state/who", files).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("remove the file"));
}

// Power fails in any write of a renewal: what is left is a pair that fits.
TEST(IdentityFolderTest, ARenewalThatStopsHalfWayLeavesAnIdentity) {
  const Authority authority = NewAuthority();
  const PrivateKey key = *PrivateKey::Make();
  for (int before = 0; before < 3; ++before) {
    runtime::MemoryFiles files;
    ASSERT_TRUE(WriteIdentity("/who", Made(authority, key), files).ok());
    files.FailChangesAfter(before, absl::ResourceExhaustedError("full"));
    EXPECT_FALSE(WriteIdentity("/who", Made(authority, key), files).ok());
    files.FailChangesAfter(0, absl::OkStatus());
    EXPECT_TRUE(CheckIdentity(*ReadIdentity("/who", files), kNow).ok());
  }
}

}  // namespace
}  // namespace skerry::identity
