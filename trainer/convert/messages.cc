#include "trainer/convert/messages.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/release.h"
#include "base/status.h"

namespace skerry::trainer {
namespace {

constexpr uint32_t kGroupSizeMax = 4096;
constexpr uint32_t kDefaultTimeoutMs = 60000;

using SampleRanges = google::protobuf::RepeatedPtrField<v1::SampleRange>;

ElementRange RangeFromProto(const v1::ElementRange& range) {
  return {range.begin(), range.end()};
}

std::vector<data::SampleRange> SampleRangesFromProto(
    const SampleRanges& ranges) {
  std::vector<data::SampleRange> result;
  for (const v1::SampleRange& range : ranges) {
    result.push_back({range.begin(), range.end()});
  }
  return result;
}

void SampleRangesToProto(std::span<const data::SampleRange> ranges,
                         SampleRanges& out) {
  for (const data::SampleRange& range : ranges) {
    v1::SampleRange* added = out.Add();
    added->set_begin(range.begin);
    added->set_end(range.end);
  }
}

v1::Dtype DtypeToProto(model::Dtype dtype) {
  switch (dtype) {
    case model::Dtype::kF32:
      return v1::DTYPE_F32;
    case model::Dtype::kBf16:
      return v1::DTYPE_BF16;
    case model::Dtype::kF16:
      return v1::DTYPE_F16;
    // No live values are kept so.
    case model::Dtype::kF64:
      break;
  }
  return v1::DTYPE_UNSPECIFIED;
}

absl::StatusOr<ModelTensor> TensorFromProto(const v1::Tensor& tensor) {
  ModelTensor result;
  for (const model::Dtype dtype :
       {model::Dtype::kF32, model::Dtype::kBf16, model::Dtype::kF16}) {
    if (DtypeToProto(dtype) != tensor.dtype()) continue;
    result.name = tensor.name();
    result.shape.assign(tensor.shape().begin(), tensor.shape().end());
    result.dtype = dtype;
    result.offset = tensor.offset();
    result.tied.assign(tensor.tied().begin(), tensor.tied().end());
    if (tensor.rule() > v1::RULE_AVERAGE || tensor.rule() < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("the tensor ", tensor.name(), " has the rule ",
                       static_cast<int>(tensor.rule()), ", which is unknown"));
    }
    result.average = tensor.rule() == v1::RULE_AVERAGE;
    return result;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the tensor ", tensor.name(), " has the dtype ",
                   static_cast<int>(tensor.dtype()), ", which is unknown"));
}

void TensorToProto(const ModelTensor& tensor, v1::Tensor& out) {
  out.set_name(tensor.name);
  out.mutable_shape()->Add(tensor.shape.begin(), tensor.shape.end());
  out.set_dtype(DtypeToProto(tensor.dtype));
  out.set_offset(tensor.offset);
  if (tensor.average) out.set_rule(v1::RULE_AVERAGE);
  for (const std::string& name : tensor.tied) out.add_tied(name);
}

}  // namespace

RunRequest RunRequestFromProto(const v1::RunRequest& request) {
  return {.ranges = SampleRangesFromProto(request.ranges()),
          .replica_batch_samples = request.replica_batch_samples(),
          .upcoming = SampleRangesFromProto(request.upcoming())};
}

void RunRequestToProto(const RunRequest& request, v1::RunRequest& out) {
  SampleRangesToProto(request.ranges, *out.mutable_ranges());
  out.set_replica_batch_samples(request.replica_batch_samples);
  SampleRangesToProto(request.upcoming, *out.mutable_upcoming());
}

std::vector<ElementRange> ElementRangesFromProto(
    const google::protobuf::RepeatedPtrField<v1::ElementRange>& ranges) {
  std::vector<ElementRange> result;
  for (const v1::ElementRange& range : ranges) {
    result.push_back(RangeFromProto(range));
  }
  return result;
}

void ElementRangesToProto(
    std::span<const ElementRange> ranges,
    google::protobuf::RepeatedPtrField<v1::ElementRange>& out) {
  for (const ElementRange& range : ranges) {
    v1::ElementRange* added = out.Add();
    added->set_begin(range.begin);
    added->set_end(range.end);
  }
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

void GenerateRequestToProto(const GenerateRequest& request,
                            v1::GenerateRequest& out) {
  out.set_prompt(request.prompt);
  out.set_tokens(request.tokens);
  out.set_temperature(request.temperature);
  out.set_seed(request.seed);
}

absl::StatusOr<GroupPlace> GroupPlaceFromProto(
    const v1::GroupRequest& request) {
  if (request.size() < 1 || request.size() > kGroupSizeMax ||
      request.rank() >= request.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "rank ", request.rank(), " is not in a group of ", request.size()));
  }
  if ((request.size() > 1) == request.bootstrap().empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a group of ", request.size(),
        request.size() > 1 ? " needs" : " has no", " bootstrap bytes"));
  }
  return GroupPlace{.bootstrap = request.bootstrap(),
                    .address = request.address(),
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
  v1::Capabilities& can = *reply.mutable_capabilities();
  can.set_evaluates(description.capabilities.evaluates);
  can.set_generates(description.capabilities.generates);
  can.set_groups(description.capabilities.groups);
  can.set_ranks(description.capabilities.ranks);
  can.set_saves_inner(description.capabilities.saves_inner);
  for (const model::ExportFile& file : description.export_files) {
    v1::ExportFile* added = reply.add_export_files();
    added->set_name(file.name);
    added->set_content(file.content);
  }
  for (const ModelTensor& tensor : description.tensors) {
    TensorToProto(tensor, *reply.add_tensors());
  }
  reply.set_average_begin(description.average_begin);
}

absl::StatusOr<Description> DescriptionFromProto(
    const v1::DescribeReply& reply) {
  Description description = {
      .element_count = reply.element_count(),
      .epoch_samples = reply.epoch_samples(),
      .validation_samples = reply.validation_samples(),
      .flops_per_sample = reply.flops_per_sample(),
      .initial_hash = reply.initial_hash(),
      .layout_hash = reply.layout_hash(),
      .capabilities = {.evaluates = reply.capabilities().evaluates(),
                       .generates = reply.capabilities().generates(),
                       .groups = reply.capabilities().groups(),
                       .ranks = reply.capabilities().ranks(),
                       .saves_inner = reply.capabilities().saves_inner()},
      .export_files = {},
      .tensors = {},
      .average_begin = reply.average_begin()};
  for (const v1::ExportFile& file : reply.export_files()) {
    description.export_files.push_back({file.name(), file.content()});
  }
  for (const v1::Tensor& tensor : reply.tensors()) {
    SKERRY_ASSIGN_OR_RETURN(ModelTensor read, TensorFromProto(tensor));
    description.tensors.push_back(std::move(read));
  }
  return description;
}

void RunResultToProto(const RunResult& result, v1::RunReply& reply) {
  reply.set_samples(result.samples);
  reply.set_inner_steps(result.inner_steps);
  reply.set_loss(result.loss);
  reply.set_gradient_norm(result.gradient_norm);
  reply.set_learning_rate(result.learning_rate);
  reply.set_no_loss(!result.has_loss);
  reply.mutable_metrics()->insert(result.metrics.begin(), result.metrics.end());
  reply.set_skipped_steps(result.skipped_steps);
}

RunResult RunResultFromProto(const v1::RunReply& reply) {
  return {.samples = reply.samples(),
          .inner_steps = reply.inner_steps(),
          .loss = reply.loss(),
          .has_loss = !reply.no_loss(),
          .gradient_norm = reply.gradient_norm(),
          .learning_rate = reply.learning_rate(),
          .metrics = {reply.metrics().begin(), reply.metrics().end()},
          .skipped_steps = reply.skipped_steps()};
}

}  // namespace skerry::trainer
