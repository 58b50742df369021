#include "coordinator/service/authority_folders.h"

#include <span>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "identity/name.h"
#include "runtime/testing/memory_files.h"

namespace skerry::coordinator {
namespace {

using identity::Certificate;
using testing::HasSubstr;

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);
const absl::Time kLater = kNow + kRetireAfter;

// A chain as a worker presents it.
std::vector<Certificate> ChainOf(const Authorities& authorities,
                                 absl::Time now = kNow) {
  const Certificate leaf = *authorities.writes.Issue(
      {"lab", identity::WorkerName{"west", "w1"}},
      identity::PrivateKey::Make()->Public(), absl::Hours(24), now);
  return *Certificate::ParsePem(absl::StrCat(leaf.Pem(), authorities.Above()));
}

bool Believes(const Authorities& trusting,
              const std::vector<Certificate>& chain, absl::Time now = kNow) {
  return CheckChain(chain, *Certificate::ParsePem(trusting.Trusted()), now)
      .ok();
}

class AuthorityFoldersTest : public testing::Test {
 protected:
  AuthorityFoldersTest() {
    EXPECT_TRUE(MakeAuthorities("/state", "lab", kNow, files_).ok());
  }
  Authorities Read() {
    auto read = ReadAuthorities("/state", files_);
    EXPECT_TRUE(read.ok()) << read.status();
    return *std::move(read);
  }
  absl::Status Replace(absl::Time now = kNow) {
    return ReplaceAuthority("/state", now, files_);
  }
  absl::Status Retire(bool at_once = false, absl::Time now = kLater) {
    return RetireAuthority("/state", at_once, now, files_);
  }
  runtime::MemoryFiles files_;
};

TEST_F(AuthorityFoldersTest, NobodyIsShutOutWhileOneReplacesTheOther) {
  const Authorities first = Read();
  ASSERT_TRUE(Replace().ok());
  const Authorities both = Read();
  EXPECT_NE(both.Trusted(), first.Trusted());
  for (const Authorities* trusting : {&first, &both}) {
    EXPECT_TRUE(Believes(*trusting, ChainOf(first)));
    EXPECT_TRUE(Believes(*trusting, ChainOf(both)));
  }
  EXPECT_EQ(both.Pin(), first.Pin());
  EXPECT_TRUE(CheckPinned(ChainOf(both), first.Pin(), kNow).ok());
  EXPECT_FALSE(files_.Read("/state/authority/key.pem").ok());
}

TEST_F(AuthorityFoldersTest, TheOldOneIsTrustedUntilItIsRetired) {
  const Authorities first = Read();
  ASSERT_TRUE(Replace().ok());
  const Authorities both = Read();
  ASSERT_TRUE(Retire().ok());
  const Authorities last = Read();
  EXPECT_FALSE(last.before.has_value());
  EXPECT_EQ(last.writes.certificate().serial(),
            both.writes.certificate().serial());
  EXPECT_FALSE(Believes(last, ChainOf(first)));
  EXPECT_TRUE(Believes(last, ChainOf(both)));
  EXPECT_TRUE(Believes(both, ChainOf(last)));
  // Who missed it all has to join again.
  EXPECT_FALSE(Believes(first, ChainOf(last)));
  EXPECT_NE(last.Pin(), first.Pin());
  EXPECT_TRUE(CheckPinned(ChainOf(last), last.Pin(), kNow).ok());
  EXPECT_THAT(*files_.ListDirectories("/state"),
              testing::ElementsAre("authority-2"));
}

TEST_F(AuthorityFoldersTest, ItIsDoneAgainAndAgain) {
  absl::Time now = kNow;
  for (int i = 0; i < 11; ++i) {
    const Authorities before = Read();
    ASSERT_TRUE(Replace(now).ok());
    EXPECT_TRUE(Believes(before, ChainOf(Read(), now), now));
    now += kRetireAfter;
    ASSERT_TRUE(Retire(false, now).ok());
    EXPECT_FALSE(Believes(Read(), ChainOf(before, now), now));
  }
  EXPECT_THAT(*files_.ListDirectories("/state"),
              testing::ElementsAre("authority-12"));
}

TEST_F(AuthorityFoldersTest, WhatCannotBeIsRefusedInOneLine) {
  EXPECT_THAT(std::string(Retire().message()),
              HasSubstr("no CA was replaced; make the next one with"));
  ASSERT_TRUE(Replace().ok());
  EXPECT_THAT(std::string(Replace().message()),
              HasSubstr("replaced on 2027-01-15 is still trusted; retire it"));
  const absl::Status early = Retire(false, kLater - absl::Minutes(6));
  EXPECT_THAT(std::string(early.message()),
              HasSubstr("until 2027-01-16 08:55 UTC; come back then"));
  EXPECT_TRUE(Read().before.has_value());
  EXPECT_TRUE(Retire(true, kNow).ok());
  EXPECT_FALSE(Read().before.has_value());
}

TEST_F(AuthorityFoldersTest, PowerMayFailInAnyWrite) {
  for (int before = 0;; ++before) {
    runtime::MemoryFiles files;
    ASSERT_TRUE(MakeAuthorities("/state", "lab", kNow, files).ok());
    const Authorities first = *ReadAuthorities("/state", files);
    files.FailChangesAfter(before, absl::ResourceExhaustedError("full"));
    const bool done = ReplaceAuthority("/state", kNow, files).ok() &&
                      RetireAuthority("/state", false, kLater, files).ok();
    files.FailChangesAfter(0, absl::OkStatus());
    const auto left = ReadAuthorities("/state", files);
    ASSERT_TRUE(left.ok()) << before << ": " << left.status();
    if (done) {
      EXPECT_GE(before, 7);
      break;
    }
    // Either the first one writes, or one for which it vouches, or it is gone.
    EXPECT_EQ(Believes(first, ChainOf(*left)),
              left->before.has_value() || left->Pin() == first.Pin())
        << before;
    if (!left->before.has_value() && left->Pin() == first.Pin()) {
      EXPECT_TRUE(ReplaceAuthority("/state", kNow, files).ok()) << before;
    }
    if (ReadAuthorities("/state", files)->before.has_value()) {
      EXPECT_TRUE(RetireAuthority("/state", false, kLater, files).ok());
    }
    EXPECT_FALSE(Believes(*ReadAuthorities("/state", files), ChainOf(first)));
  }
}

TEST_F(AuthorityFoldersTest, DamagedFilesAreNamed) {
  ASSERT_TRUE(Replace().ok());
  for (const char* path :
       {"/state/authority-2/voucher.pem", "/state/authority-2/key.pem",
        "/state/authority-2/cert.pem", "/state/authority/cert.pem"}) {
    const std::vector<std::byte> good = *files_.Read(path);
    const std::string text = "nonsense\n";
    ASSERT_TRUE(files_.WriteDurably(path, std::as_bytes(std::span(text))).ok());
    const absl::Status refused = ReadAuthorities("/state", files_).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << path << refused;
    EXPECT_THAT(std::string(refused.message()), HasSubstr("/state/authority"));
    EXPECT_THAT(std::string(refused.message()), HasSubstr("backup"));
    ASSERT_TRUE(files_.WriteDurably(path, good).ok());
  }
  EXPECT_TRUE(ReadAuthorities("/state", files_).ok());
}

}  // namespace
}  // namespace skerry::coordinator
