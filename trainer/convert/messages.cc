#include "trainer/convert/messages.h"

#include "absl/strings/str_cat.h"
#include "base/release.h"

namespace skerry::trainer {
namespace {

constexpr uint32_t kGroupSizeMax = 4096;
constexpr uint32_t kDefaultTimeoutMs = 60000;

ElementRange RangeFromProto(const v1::ElementRange& range) {
  return {range.begin(), range.end()};
}

}  // namespace

RunRequest RunRequestFromProto(const v1::RunRequest& request) {
  RunRequest run;
  run.replica_batch_samples = request.replica_batch_samples();
  for (const v1::SampleRange& range : request.ranges()) {
    run.ranges.push_back({range.begin(), range.end()});
  }
  return run;
}

std::vector<ElementRange> ElementRangesFromProto(
    const google::protobuf::RepeatedPtrField<v1::ElementRange>& ranges) {
  std::vector<ElementRange> result;
  for (const v1::ElementRange& range : ranges) {
    result.push_back(RangeFromProto(range));
  }
  return result;
}

absl::StatusOr<std::vector<RankRange>> OwnersFromProto(
    const google::protobuf::RepeatedPtrField<v1::RankRange>& owners) {
  std::vector<RankRange> result;
  for (const v1::RankRange& owner : owners) {
    if (owner.rank() >= kGroupSizeMax) {
      return absl::InvalidArgumentError(
          absl::StrCat("owner rank ", owner.rank(), " is too large"));
    }
    result.push_back(
        {RangeFromProto(owner.range()), static_cast<int>(owner.rank())});
  }
  return result;
}

GenerateRequest GenerateRequestFromProto(const v1::GenerateRequest& request) {
  return {.prompt = request.prompt(),
          .tokens = request.tokens(),
          .temperature = request.temperature(),
          .seed = request.seed()};
}

absl::StatusOr<GroupPlace> GroupPlaceFromProto(
    const v1::GroupRequest& request) {
  if (request.size() < 1 || request.size() > kGroupSizeMax ||
      request.rank() >= request.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "rank ", request.rank(), " is not in a group of ", request.size()));
  }
  if ((request.size() > 1) == request.shared_memory().empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a group of ", request.size(),
        request.size() > 1 ? " needs" : " has no", " shared memory"));
  }
  return GroupPlace{.shared_memory = request.shared_memory(),
                    .rank = static_cast<int>(request.rank()),
                    .size = static_cast<int>(request.size()),
                    .timeout = absl::Milliseconds(request.timeout_ms() == 0
                                                      ? kDefaultTimeoutMs
                                                      : request.timeout_ms())};
}

void DescriptionToProto(const Description& description,
                        v1::DescribeReply& reply) {
  reply.set_protocol_version(kProtocolVersion);
  reply.set_implementation(absl::StrCat("skerry ", kRelease));
  reply.set_element_count(description.element_count);
  reply.set_epoch_samples(description.epoch_samples);
  reply.set_validation_samples(description.validation_samples);
  reply.set_flops_per_sample(description.flops_per_sample);
  reply.set_initial_hash(description.initial_hash);
  reply.set_layout_hash(description.layout_hash);
}

void RunResultToProto(const RunResult& result, v1::RunReply& reply) {
  reply.set_samples(result.samples);
  reply.set_inner_steps(result.inner_steps);
  reply.set_loss(result.loss);
  reply.set_gradient_norm(result.gradient_norm);
  reply.set_learning_rate(result.learning_rate);
}

}  // namespace skerry::trainer
