#include "trainer/convert/messages.h"

#include "gtest/gtest.h"

namespace skerry::trainer {
namespace {

TEST(GroupPlaceFromProtoTest, GroupOfOneHasNoPlaceAndOthersHave) {
  v1::GroupRequest request;
  request.set_size(1);
  EXPECT_TRUE(GroupPlaceFromProto(request).ok());
  request.set_bootstrap("x");
  EXPECT_FALSE(GroupPlaceFromProto(request).ok());
  request.set_size(2);
  request.set_rank(1);
  request.set_timeout_ms(1500);
  request.set_address("north");
  const auto place = GroupPlaceFromProto(request);
  ASSERT_TRUE(place.ok());
  EXPECT_EQ(place->rank, 1);
  EXPECT_EQ(place->bootstrap, "x");
  EXPECT_EQ(place->address, "north");
  EXPECT_EQ(place->timeout, absl::Milliseconds(1500));
  request.clear_bootstrap();
  EXPECT_FALSE(GroupPlaceFromProto(request).ok());
}

TEST(GroupPlaceFromProtoTest, RanksOutOfRangeAreRefused) {
  v1::GroupRequest request;
  EXPECT_FALSE(GroupPlaceFromProto(request).ok());
  request.set_size(0xffffffff);
  request.set_bootstrap("x");
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

TEST(DescriptionFromProtoTest, HearsWhatWasSaid) {
  Description said = {
      .element_count = 7,
      .epoch_samples = 100,
      .validation_samples = 10,
      .flops_per_sample = 2.5,
      .initial_hash = 3,
      .layout_hash = 4,
      .capabilities = {.evaluates = true, .ranks = 2, .saves_inner = true},
      .export_files = {{"config.json", "{}"}},
      .tensors = {{.name = "a",
                   .shape = {2, 3},
                   .dtype = model::Dtype::kBf16,
                   .offset = 0,
                   .tied = {"b"}},
                  {.name = "c",
                   .shape = {},
                   .dtype = model::Dtype::kF16,
                   .offset = 6,
                   .tied = {},
                   .average = true}},
      .average_begin = 6};
  v1::DescribeReply reply;
  DescriptionToProto(said, reply);
  const auto heard = DescriptionFromProto(reply);
  ASSERT_TRUE(heard.ok()) << heard.status();
  v1::DescribeReply again;
  DescriptionToProto(*heard, again);
  EXPECT_EQ(again.SerializeAsString(), reply.SerializeAsString());
  EXPECT_TRUE(heard->capabilities.evaluates);
  EXPECT_EQ(heard->capabilities.ranks, 2u);
  EXPECT_TRUE(heard->capabilities.saves_inner);
  ASSERT_EQ(heard->tensors.size(), 2u);
  EXPECT_EQ(heard->tensors[0].tied, std::vector<std::string>{"b"});
  EXPECT_EQ(heard->tensors[1].dtype, model::Dtype::kF16);
  reply.mutable_tensors(1)->set_dtype(v1::DTYPE_UNSPECIFIED);
  EXPECT_FALSE(DescriptionFromProto(reply).ok());
}

TEST(RunResultFromProtoTest, HearsWhatWasSaid) {
  const RunResult said = {.samples = 9,
                          .inner_steps = 3,
                          .loss = 0.5,
                          .has_loss = false,
                          .gradient_norm = 1.5,
                          .learning_rate = 0.25,
                          .metrics = {{"accuracy", 0.75}},
                          .skipped_steps = 1};
  v1::RunReply reply;
  RunResultToProto(said, reply);
  const RunResult heard = RunResultFromProto(reply);
  EXPECT_EQ(heard.samples, 9u);
  EXPECT_EQ(heard.inner_steps, 3u);
  EXPECT_EQ(heard.loss, 0.5);
  EXPECT_FALSE(heard.has_loss);
  EXPECT_EQ(heard.gradient_norm, 1.5);
  EXPECT_EQ(heard.learning_rate, 0.25);
  EXPECT_EQ(heard.metrics, said.metrics);
  EXPECT_EQ(heard.skipped_steps, 1u);
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
  v1::RunRequest again;
  RunRequestToProto(run, again);
  EXPECT_EQ(again.SerializeAsString(), request.SerializeAsString());
}

}  // namespace
}  // namespace skerry::trainer
