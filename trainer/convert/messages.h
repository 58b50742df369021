// trainer/convert/messages.h
//
// Converts requests and replies of proto/skerry/v1/trainer.proto to core types
// and back. It checks only values that the core types cannot hold. Who uses
// them checks the rest.
#ifndef SKERRY_TRAINER_CONVERT_MESSAGES_H_
#define SKERRY_TRAINER_CONVERT_MESSAGES_H_

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "proto/skerry/v1/trainer.pb.h"
#include "trainer/core/trainer.h"

namespace skerry::trainer {

RunRequest RunRequestFromProto(const v1::RunRequest& request);
void RunRequestToProto(const RunRequest& request, v1::RunRequest& out);
std::vector<ElementRange> ElementRangesFromProto(
    const google::protobuf::RepeatedPtrField<v1::ElementRange>& ranges);
// Adds them to `out`.
void ElementRangesToProto(
    std::span<const ElementRange> ranges,
    google::protobuf::RepeatedPtrField<v1::ElementRange>& out);
// Errors: InvalidArgument when a rank is no int.
absl::StatusOr<std::vector<RankRange>> OwnersFromProto(
    const google::protobuf::RepeatedPtrField<v1::RankRange>& owners);
GenerateRequest GenerateRequestFromProto(const v1::GenerateRequest& request);
void GenerateRequestToProto(const GenerateRequest& request,
                            v1::GenerateRequest& out);

// Where a trainer stands in its island.
struct GroupPlace {
  // Empty in a group of one.
  std::string bootstrap;
  // Host at which other members reach this one.
  std::string address;
  int rank = 0;
  int size = 1;
  absl::Duration timeout;
};
// Errors: InvalidArgument when a group of several has no place, or the other
// way round, or numbers are out of range.
absl::StatusOr<GroupPlace> GroupPlaceFromProto(const v1::GroupRequest& request);

void DescriptionToProto(const Description& description,
                        v1::DescribeReply& reply);
// Errors: InvalidArgument for a dtype that is unknown.
absl::StatusOr<Description> DescriptionFromProto(
    const v1::DescribeReply& reply);
void RunResultToProto(const RunResult& result, v1::RunReply& reply);
RunResult RunResultFromProto(const v1::RunReply& reply);

}  // namespace skerry::trainer

#endif  // SKERRY_TRAINER_CONVERT_MESSAGES_H_
