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

}  // namespace
}  // namespace skerry::worker
