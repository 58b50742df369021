#include "identity/x509/authority.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::identity {
namespace {

using testing::HasSubstr;

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);
const Name kWorker{"lab", WorkerName{"west", "w1"}};

Authority NewAuthority() {
  return *Authority::Make("lab", absl::Hours(24 * 3650), kNow);
}

Certificate Issued(const Authority& authority, const Name& name,
                   absl::Duration lifetime = absl::Hours(24)) {
  return *authority.Issue(name, PrivateKey::Make()->Public(), lifetime, kNow);
}

std::string WhyNot(const std::vector<Certificate>& chain,
                   const std::vector<Certificate>& trusted, absl::Time now) {
  const absl::Status checked = CheckChain(chain, trusted, now);
  EXPECT_TRUE(absl::IsFailedPrecondition(checked)) << checked;
  return std::string(checked.message());
}

TEST(AuthorityTest, WritesTheNameAndTheKeyThatItIsGiven) {
  const Authority authority = NewAuthority();
  const PublicKey key = PrivateKey::Make()->Public();
  const absl::StatusOr<Certificate> issued =
      authority.Issue(kWorker, key, absl::Hours(24), kNow);
  ASSERT_TRUE(issued.ok()) << issued.status();
  const auto read = Certificate::ParsePem(
      absl::StrCat(issued->Pem(), authority.certificate().Pem()));
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->size(), 2u);
  const Certificate& leaf = read->front();
  ASSERT_TRUE(leaf.name().ok()) << leaf.name().status();
  EXPECT_EQ(*leaf.name(), kWorker);
  EXPECT_EQ(leaf.public_key().Sha256(), key.Sha256());
  EXPECT_EQ(leaf.serial(), issued->serial());
  EXPECT_EQ(leaf.not_before(), kNow - absl::Minutes(5));
  EXPECT_EQ(leaf.not_after(), kNow + absl::Hours(24));
  EXPECT_FALSE(leaf.is_authority());
  EXPECT_TRUE(read->back().is_authority());
  EXPECT_EQ(X509_check_host(leaf.get(), kHostName, 0, 0, nullptr), 1);
  EXPECT_TRUE(
      CheckChain(*read, std::vector{authority.certificate()}, kNow).ok());
}

TEST(AuthorityTest, SerialsDiffer) {
  const Authority authority = NewAuthority();
  EXPECT_NE(Issued(authority, kWorker).serial(),
            Issued(authority, kWorker).serial());
}

TEST(AuthorityTest, IsReadAsItIsWritten) {
  const Authority authority = NewAuthority();
  const auto read =
      Authority::FromPem(authority.certificate().Pem(), authority.key().Pem());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(CheckChain(std::vector{Issued(*read, kWorker)},
                         std::vector{authority.certificate()}, kNow)
                  .ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(
      Authority::FromPem(authority.certificate().Pem(),
                         NewAuthority().key().Pem())
          .status()));
  const PrivateKey key = *PrivateKey::Make();
  const Certificate leaf =
      *authority.Issue(kWorker, key.Public(), absl::Hours(24), kNow);
  EXPECT_TRUE(absl::IsFailedPrecondition(
      Authority::FromPem(leaf.Pem(), key.Pem()).status()));
}

TEST(AuthorityTest, ACertificateEndsWithItsAuthority) {
  const Authority authority = *Authority::Make("lab", absl::Hours(1), kNow);
  EXPECT_EQ(Issued(authority, kWorker).not_after(), kNow + absl::Hours(1));
  EXPECT_TRUE(absl::IsFailedPrecondition(
      authority
          .Issue(kWorker, PrivateKey::Make()->Public(), absl::Hours(1),
                 kNow + absl::Hours(2))
          .status()));
}

TEST(AuthorityTest, NamesOfFullLengthFit) {
  const std::string cluster(63, 'c'), word(40, 'w');
  const auto authority = Authority::Make(cluster, absl::Hours(24), kNow);
  ASSERT_TRUE(authority.ok()) << authority.status();
  const Name name{cluster, WorkerName{word, word}};
  const Certificate issued = Issued(*authority, name);
  ASSERT_TRUE(issued.name().ok()) << issued.name().status();
  EXPECT_EQ(*issued.name(), name);
}

TEST(AuthorityTest, TheNextOneIsBelievedByWhoTrustsEither) {
  Authority before = NewAuthority();
  // The third one shows that it can be done again and again.
  for (int i = 0; i < 2; ++i) {
    const Authority after = *before.MakeNext(absl::Hours(24 * 3650), kNow);
    const absl::StatusOr<Certificate> voucher = before.VouchFor(after, kNow);
    ASSERT_TRUE(voucher.ok()) << voucher.status();
    const Certificate leaf = Issued(after, kWorker);
    const std::vector chain{leaf, *voucher, before.certificate()};
    for (const std::vector<Certificate>& trusted :
         {std::vector{before.certificate()},
          {after.certificate()},
          {before.certificate(), after.certificate()},
          {after.certificate(), before.certificate()}}) {
      EXPECT_TRUE(CheckChain(chain, trusted, kNow).ok())
          << CheckChain(chain, trusted, kNow);
      // The one of before goes on to be believed where it is trusted.
      EXPECT_EQ(
          CheckChain(std::vector{Issued(before, kWorker)}, trusted, kNow).ok(),
          trusted.size() == 2 ||
              trusted[0].serial() == before.certificate().serial());
    }
    EXPECT_TRUE(
        CheckPinned(chain, FormatPin(before.certificate().public_key()), kNow)
            .ok());
    WhyNot({leaf}, {before.certificate()}, kNow);
    WhyNot(chain, {NewAuthority().certificate()}, kNow);
    before = after;
  }
}

TEST(AuthorityTest, NobodyIsVouchedForAfterTheEnd) {
  const Authority authority = *Authority::Make("lab", absl::Hours(1), kNow);
  const absl::Time late = kNow + absl::Hours(2);
  const Authority next = *authority.MakeNext(absl::Hours(24), late);
  EXPECT_TRUE(
      absl::IsFailedPrecondition(authority.VouchFor(next, late).status()));
}

TEST(CertificateTest, EachFaultOfAChainHasItsLine) {
  const Authority authority = NewAuthority();
  const std::vector trusted{authority.certificate()};
  const std::vector chain{Issued(authority, kWorker)};
  EXPECT_THAT(WhyNot(chain, trusted, kNow + absl::Hours(25)),
              HasSubstr("has expired at 2027-01-16 08:00:00 UTC"));
  EXPECT_THAT(WhyNot(chain, trusted, kNow - absl::Hours(24)),
              HasSubstr("is a clock wrong?"));
  EXPECT_THAT(WhyNot(chain, {NewAuthority().certificate()}, kNow),
              HasSubstr("does not come from a CA that is trusted here"));
  EXPECT_THAT(WhyNot({}, trusted, kNow), HasSubstr("there is none"));
}

TEST(CertificateTest, ALeafWritesNoCertificates) {
  const Authority authority = NewAuthority();
  const PrivateKey key = *PrivateKey::Make();
  const Certificate leaf =
      *authority.Issue(kWorker, key.Public(), absl::Hours(24), kNow);
  // Its owner poses as a CA.
  const X509Ptr forged(X509_dup(leaf.get()));
  X509_set_issuer_name(forged.get(), X509_get_subject_name(leaf.get()));
  X509_sign(forged.get(), key.get(), EVP_sha256());
  const Certificate child =
      *Certificate::Adopt(X509Ptr(X509_dup(forged.get())));
  WhyNot({child, leaf}, {authority.certificate()}, kNow);
}

TEST(CertificateTest, TwoAuthoritiesAreTrustedWhileOneReplacesTheOther) {
  const Authority before = NewAuthority(), after = NewAuthority();
  const std::vector both{before.certificate(), after.certificate()};
  for (const Authority* one : {&before, &after}) {
    EXPECT_TRUE(
        CheckChain(std::vector{Issued(*one, kWorker)}, both, kNow).ok());
  }
}

TEST(CertificateTest, APinChoosesTheAuthority) {
  const Authority authority = NewAuthority(), other = NewAuthority();
  const std::string pin = FormatPin(authority.certificate().public_key());
  EXPECT_TRUE(CheckPin(pin).ok());
  const std::vector chain{Issued(authority, kWorker), authority.certificate()};
  const auto found = CheckPinned(chain, pin, kNow);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->Pem(), authority.certificate().Pem());
  EXPECT_TRUE(absl::IsFailedPrecondition(
      CheckPinned(chain, FormatPin(other.certificate().public_key()), kNow)
          .status()));
  // The pinned CA is there and has written nothing.
  const std::vector mixed{Issued(other, kWorker), authority.certificate()};
  EXPECT_TRUE(
      absl::IsFailedPrecondition(CheckPinned(mixed, pin, kNow).status()));
  // The pin of the leaf's own key is none of a CA.
  EXPECT_FALSE(CheckPinned(chain, FormatPin(chain[0].public_key()), kNow).ok());
}

TEST(CertificateTest, OtherPinsAreRefused) {
  for (const std::string& other :
       {std::string(), std::string("sha256:"), "sha256:" + std::string(64, 'G'),
        "sha1:" + std::string(64, '0'), std::string(64, '0'),
        "sha256:" + std::string(63, '0')}) {
    EXPECT_TRUE(absl::IsInvalidArgument(CheckPin(other))) << other;
  }
}

TEST(CertificateTest, OtherTextsAreRefused) {
  const std::string good = NewAuthority().certificate().Pem();
  std::string nine;
  for (int i = 0; i < 9; ++i) nine += good;
  for (const std::string& other :
       {std::string(), std::string("x"), good.substr(0, good.size() / 2),
        good + good.substr(0, good.size() / 2), nine,
        std::string(1 << 20, 'x')}) {
    EXPECT_TRUE(absl::IsInvalidArgument(Certificate::ParsePem(other).status()));
  }
  EXPECT_TRUE(
      absl::IsInvalidArgument(NewAuthority().certificate().name().status()));
}

}  // namespace
}  // namespace skerry::identity
