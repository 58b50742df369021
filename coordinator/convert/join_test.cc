#include "coordinator/convert/join.h"

#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

TEST(JoinConvertTest, ASnapshotComesBackAsItWas) {
  const JoinSnapshot joins{
      .tokens = {{{"abcdef", "hash", "west", "w*", 1'800'000'000, 3}, 2}},
      .workers = {{"w1", "west", "key", "10.0.0.1", "abcdef"},
                  {"w2", "west", "other", "10.0.0.2", "abcdef"}},
      .revoked = {{"A1", "stolen"}}};
  v1::JournalSnapshot out;
  JoinsToProto(joins, &out);
  EXPECT_EQ(JoinsFromProto(out), joins);
}

TEST(JoinConvertTest, EveryKindComesBackAsItWas) {
  for (const JoinChanged& changed :
       {JoinChanged{
            TokenMade{"abcdef", "hash", "west", "w*", 1'800'000'000, 3}},
        JoinChanged{TokenDeleted{"abcdef"}},
        JoinChanged{WorkerJoined{"w1", "west", "key", "10.0.0.1", "abcdef"}},
        JoinChanged{WorkerForgotten{"w1"}},
        JoinChanged{CertificateRevoked{"A1", "stolen"}},
        JoinChanged{RevocationLifted{"A1"}}}) {
    const auto again = JoinFromProto(JoinToProto(changed));
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(*again, changed);
  }
}

TEST(JoinConvertTest, AnUnknownKindIsRefused) {
  EXPECT_TRUE(
      absl::IsInvalidArgument(JoinFromProto(v1::JoinChanged()).status()));
}

}  // namespace
}  // namespace skerry::coordinator
