#include "transport/grpc/pinned_channel.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "identity/x509/authority.h"

namespace skerry::transport {
namespace {

using testing::HasSubstr;

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

class PinnedChannelTest : public testing::Test {
 protected:
  std::string Chain(const decltype(identity::Name::who)& who) const {
    return authority_
               .Issue({"lab", who}, identity::PrivateKey::Make()->Public(),
                      absl::Hours(24), kNow)
               ->Pem() +
           authority_.certificate().Pem();
  }
  std::string WhyNot(const std::string& chain, absl::Time now = kNow) const {
    const absl::Status refused = CheckPinnedServer(chain, pin_, now);
    EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
    return std::string(refused.message());
  }

  const identity::Authority authority_ =
      *identity::Authority::Make("lab", absl::Hours(24 * 3650), kNow);
  const std::string pin_ =
      identity::FormatPin(authority_.certificate().public_key());
};

TEST_F(PinnedChannelTest, TheCoordinatorOfThePinnedAuthorityIsTrusted) {
  EXPECT_TRUE(
      CheckPinnedServer(Chain(identity::CoordinatorName()), pin_, kNow).ok());
}

TEST_F(PinnedChannelTest, NobodyElseIs) {
  EXPECT_THAT(WhyNot(Chain(identity::WorkerName{"west", "w1"})),
              HasSubstr("no coordinator but spiffe://lab/island/west/worker"));
  EXPECT_THAT(
      WhyNot(Chain(identity::OperatorName{identity::Role::kAdmin, "e"})),
      HasSubstr("no coordinator"));
  const auto other =
      *identity::Authority::Make("lab", absl::Hours(24 * 3650), kNow);
  EXPECT_THAT(WhyNot(other.certificate().Pem()), HasSubstr("is pinned"));
  EXPECT_THAT(WhyNot(authority_.certificate().Pem()),
              HasSubstr("no coordinator"));
  EXPECT_THAT(
      WhyNot(Chain(identity::CoordinatorName()), kNow + absl::Hours(25)),
      HasSubstr("has expired"));
  WhyNot("");
}

}  // namespace
}  // namespace skerry::transport
