#include "trainer/convert/messages.h"

#include "gtest/gtest.h"

namespace skerry::trainer {
namespace {

TEST(GroupPlaceFromProtoTest, GroupOfOneHasNoNameAndOthersHave) {
  v1::GroupRequest request;
  request.set_size(1);
  EXPECT_TRUE(GroupPlaceFromProto(request).ok());
  request.set_shared_memory("/x");
  EXPECT_FALSE(GroupPlaceFromProto(request).ok());
  request.set_size(2);
  request.set_rank(1);
  request.set_timeout_ms(1500);
  const auto place = GroupPlaceFromProto(request);
  ASSERT_TRUE(place.ok());
  EXPECT_EQ(place->rank, 1);
  EXPECT_EQ(place->timeout, absl::Milliseconds(1500));
  request.clear_shared_memory();
  EXPECT_FALSE(GroupPlaceFromProto(request).ok());
}

TEST(GroupPlaceFromProtoTest, RanksOutOfRangeAreRefused) {
  v1::GroupRequest request;
  EXPECT_FALSE(GroupPlaceFromProto(request).ok());
  request.set_size(0xffffffff);
  request.set_shared_memory("/x");
  EXPECT_FALSE(GroupPlaceFromProto(request).ok());
  request.set_size(2);
  request.set_rank(2);
  EXPECT_FALSE(GroupPlaceFromProto(request).ok());
}

TEST(OwnersFromProtoTest, RankThatIsNoIntIsRefused) {
  v1::LoadRequest request;
  v1::RankRange* owner = request.add_owners();
  owner->mutable_range()->set_end(5);
  owner->set_rank(3);
  const auto owners = OwnersFromProto(request.owners());
  ASSERT_TRUE(owners.ok());
  EXPECT_EQ((*owners)[0].rank, 3);
  EXPECT_EQ((*owners)[0].range, (ElementRange{0, 5}));
  owner->set_rank(0xffffffff);
  EXPECT_FALSE(OwnersFromProto(request.owners()).ok());
}

TEST(RunRequestFromProtoTest, KeepsTheOrderOfRanges) {
  v1::RunRequest request;
  request.set_replica_batch_samples(16);
  for (const uint64_t begin : {30, 10}) {
    v1::SampleRange* range = request.add_ranges();
    range->set_begin(begin);
    range->set_end(begin + 5);
  }
  const RunRequest run = RunRequestFromProto(request);
  EXPECT_EQ(run.replica_batch_samples, 16u);
  ASSERT_EQ(run.ranges.size(), 2u);
  EXPECT_EQ(run.ranges[0], (data::SampleRange{30, 35}));
}

}  // namespace
}  // namespace skerry::trainer
