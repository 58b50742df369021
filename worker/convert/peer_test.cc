#include "worker/convert/peer.h"

#include "gtest/gtest.h"

namespace skerry::worker {
namespace {

TEST(CutTest, RequestAndReplySurviveTheWire) {
  const CutRequest request{
      Life(8), 1, Round(4), {Sequence(2), Sequence(3)}, true};
  v1::AgreeCutRequest request_proto;
  CutRequestToProto(JobId(3), request, &request_proto);
  EXPECT_EQ(CutRequestFromProto(request_proto).value(), request);
  const CutReply reply{Epoch(9),
                       {{0, Sequence(2)}, {3, Sequence(5), true}},
                       data::RangeSet(data::SampleRange{10, 20}),
                       2,
                       true,
                       true,
                       7};
  v1::AgreeCutReply reply_proto;
  CutReplyToProto(reply, &reply_proto);
  EXPECT_EQ(CutReplyFromProto(reply_proto).value(), reply);
}

TEST(CutTest, AnApplyPointMayHaveNothingToApply) {
  CutReply reply;
  reply.runs = 2;
  v1::AgreeCutReply proto;
  CutReplyToProto(reply, &proto);
  EXPECT_EQ(CutReplyFromProto(proto).value(), reply);
}

TEST(CutTest, MissingFieldsAreRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(CutReplyFromProto({}).status()));
  v1::AgreeCutRequest request;
  CutRequestToProto(JobId(3), {Life(8), 1, Round(4), {Sequence(2)}}, &request);
  request.set_round(0);
  EXPECT_TRUE(absl::IsInvalidArgument(CutRequestFromProto(request).status()));
  request.set_round(4);
  request.add_stored_through();
  EXPECT_TRUE(absl::IsInvalidArgument(CutRequestFromProto(request).status()));
}

TEST(MeetTest, RequestAndReplySurviveTheWire) {
  const MeetRequest request{Life(8), 1, "boot/3"};
  v1::MeetRequest proto;
  MeetRequestToProto(JobId(3), request, &proto);
  EXPECT_EQ(proto.job(), 3u);
  EXPECT_EQ(MeetRequestFromProto(proto).value(), request);
  v1::MeetReply reply;
  reply.set_bootstrap("here");
  EXPECT_EQ(BootstrapFromProto(reply).value(), "here");
}

TEST(MeetTest, FieldsThatAreMissingOrTooLongAreRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(MeetRequestFromProto({}).status()));
  v1::MeetRequest request;
  request.set_life(1);
  request.set_host(std::string(257, 'a'));
  EXPECT_TRUE(absl::IsInvalidArgument(MeetRequestFromProto(request).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(BootstrapFromProto({}).status()));
  v1::MeetReply reply;
  reply.set_bootstrap(std::string((64 << 10) + 1, 'a'));
  EXPECT_TRUE(absl::IsInvalidArgument(BootstrapFromProto(reply).status()));
}

}  // namespace
}  // namespace skerry::worker
