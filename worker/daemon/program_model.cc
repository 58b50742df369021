#include "worker/daemon/program_model.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace skerry::worker {
namespace {

absl::Status Bad(absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("the program's description of its model: ", what));
}

absl::StatusOr<model::Dtype> DtypeFromProto(const v1::Tensor& tensor) {
  switch (tensor.dtype()) {
    case v1::DTYPE_F32:
      return model::Dtype::kF32;
    case v1::DTYPE_BF16:
      return model::Dtype::kBf16;
    case v1::DTYPE_F16:
      return model::Dtype::kF16;
    default:
      return Bad(absl::StrCat(tensor.name(), " has an unknown dtype"));
  }
}

absl::StatusOr<checkpoint::TableTensor> TensorFromProto(
    const v1::Tensor& tensor) {
  checkpoint::TableTensor out;
  out.name = tensor.name();
  // An extent that does not fit becomes negative, which no table has.
  out.shape.assign(tensor.shape().begin(), tensor.shape().end());
  SKERRY_ASSIGN_OR_RETURN(out.dtype, DtypeFromProto(tensor));
  out.tied.assign(tensor.tied().begin(), tensor.tied().end());
  out.average = tensor.rule() == v1::RULE_AVERAGE;
  return out;
}

}  // namespace

TrainerDescription DescriptionOf(const v1::DescribeReply& reply) {
  const bool all = !reply.has_capabilities();
  const v1::Capabilities& can = reply.capabilities();
  return {.element_count = reply.element_count(),
          .epoch_samples = reply.epoch_samples(),
          .flops_per_sample = reply.flops_per_sample(),
          .validation_samples = reply.validation_samples(),
          .initial_hash = reply.initial_hash(),
          .layout_hash = reply.layout_hash(),
          .average_begin = reply.average_begin(),
          .evaluates = all || can.evaluates(),
          .generates = all || can.generates(),
          .groups = all || can.groups(),
          .saves_inner = can.saves_inner()};
}

absl::StatusOr<checkpoint::ProgramModel> ProgramModelOf(
    const v1::DescribeReply& reply) {
  checkpoint::ProgramModel model;
  model.layout_hash = reply.layout_hash();
  for (const v1::Tensor& tensor : reply.tensors()) {
    SKERRY_ASSIGN_OR_RETURN(checkpoint::TableTensor one,
                            TensorFromProto(tensor));
    model.table.tensors.push_back(std::move(one));
  }
  size_t bytes = 0;
  for (const v1::ExportFile& file : reply.export_files()) {
    bytes += file.content().size();
    model.table.export_files.push_back(file.name());
    model.files.push_back({file.name(), file.content()});
  }
  if (bytes > checkpoint::kExportBytesMax) {
    return Bad("the files beside the weights have more than 16 MiB");
  }
  const absl::Status valid = checkpoint::ValidateTable(model.table);
  if (!valid.ok()) return Bad(valid.message());
  const model::ParameterLayout layout = checkpoint::LayoutOf(model.table);
  for (size_t i = 0; i < layout.tensors().size(); ++i) {
    if (reply.tensors(static_cast<int>(i)).offset() !=
        static_cast<uint64_t>(layout.tensors()[i].offset)) {
      return Bad(absl::StrCat(layout.tensors()[i].name,
                              " does not follow the tensor before it"));
    }
  }
  if (static_cast<uint64_t>(layout.element_count()) != reply.element_count()) {
    return Bad(absl::StrCat("its tensors have ", layout.element_count(),
                            " elements, the state has ",
                            reply.element_count()));
  }
  if (checkpoint::AverageBeginOf(model.table) != reply.average_begin()) {
    return Bad(absl::StrCat("averaged values begin at element ",
                            reply.average_begin(),
                            ", its tensors have them "
                            "from ",
                            checkpoint::AverageBeginOf(model.table)));
  }
  return model;
}

}  // namespace skerry::worker
