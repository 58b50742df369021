#include "cli/job_checkpoint.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "checkpoint/same_model.h"
#include "checkpoint/starting_point.h"
#include "model/spec/model_config.h"

namespace skerry::cli {
namespace {

absl::Status Bad(absl::string_view field, absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("model.checkpoint.", field, ": ", what));
}

// A job that names no length takes the model's context.
absl::StatusOr<uint64_t> SequenceTokens(const v1::JobSpec& spec) {
  if (spec.data().sequence_tokens() != 0) return spec.data().sequence_tokens();
  SKERRY_ASSIGN_OR_RETURN(const model::ModelConfig config,
                          model::ParseModelConfig(spec.model().config_json()));
  return static_cast<uint64_t>(config.n_positions);
}

std::string DataText(const std::string& id, uint64_t samples) {
  return absl::StrCat("\"", id, "\" and ", samples);
}

// Compares what is named with the job's model. The tensors of a program are
// known to its trainer alone, and each worker compares them.
absl::Status CheckModel(const checkpoint::Described& found,
                        const v1::JobSpec& spec) {
  if (spec.model().has_program()) {
    if (found.manifest.has_value()) return absl::OkStatus();
    return Bad("name",
               "is empty, but a job with a program starts from a checkpoint of "
               "a job only; the program itself can load other weights");
  }
  if (!found.table.has_value()) {
    return checkpoint::CheckSameModel(spec.model().config_json(),
                                      found.config_json);
  }
  if (spec.model().config_json().empty()) {
    return absl::InvalidArgumentError(
        "it is of a job with a program; name model.program or model.config");
  }
  SKERRY_ASSIGN_OR_RETURN(
      const checkpoint::TensorTable own,
      checkpoint::TensorsOf({.config_json = spec.model().config_json(),
                             .anchor = {},
                             .outer_momentum = {}}));
  return checkpoint::CheckSameTensors(own, *found.table);
}

// Which samples are left is known only where they are the same samples.
absl::Status TakeConsumed(const checkpoint::Manifest& manifest,
                          v1::JobSpec* spec) {
  constexpr char kField[] = "samples";
  if (!manifest.order.has_value()) {
    return Bad(kField,
               "is go_on, but the checkpoint does not say which samples it has "
               "taken in; use anew");
  }
  const checkpoint::SampleOrder& order = *manifest.order;
  const bool program = spec->model().has_program();
  if (program != manifest.layout_hash.has_value()) {
    return Bad(kField,
               "is go_on, but of this job and the checkpoint's only one has a "
               "program, and their samples are not the same; use anew");
  }
  if (program && (order.data_id != spec->data().id() ||
                  order.data_samples != spec->data().samples())) {
    return Bad(kField,
               absl::StrCat("is go_on, but data.id and data.samples are ",
                            DataText(spec->data().id(), spec->data().samples()),
                            " where the checkpoint's job had ",
                            DataText(order.data_id, order.data_samples),
                            "; use the same, or anew"));
  }
  if (order.data_sha256 != spec->data().manifest_sha256()) {
    return Bad(kField,
               "is go_on, but data.path is another data set than that of the "
               "checkpoint's job; use the same, or anew");
  }
  if (order.seed != spec->data().seed()) {
    return Bad(kField,
               absl::StrCat("is go_on, but data.seed is ", spec->data().seed(),
                            " where the checkpoint's job had ", order.seed,
                            "; use the same, or anew"));
  }
  uint64_t tokens = 0;
  if (!program) {
    SKERRY_ASSIGN_OR_RETURN(tokens, SequenceTokens(*spec));
  }
  if (order.sequence_tokens != tokens) {
    return Bad(kField,
               absl::StrCat("is go_on, but data.sequence_tokens is ", tokens,
                            " where the checkpoint's job had ",
                            order.sequence_tokens, "; use the same, or anew"));
  }
  v1::JobSpec::Checkpoint* from = spec->mutable_model()->mutable_checkpoint();
  for (const data::SampleRange& range : manifest.consumed) {
    v1::SampleRange* added = from->add_consumed();
    added->set_begin(range.begin);
    added->set_end(range.end);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CompleteCheckpoint(runtime::BlobStores& places,
                                runtime::Files& files, v1::JobSpec* spec) {
  v1::JobSpec::Checkpoint* from = spec->mutable_model()->mutable_checkpoint();
  if (!from->sha256().empty()) return absl::OkStatus();
  if (from->name() == "newest") {
    absl::StatusOr<std::string> newest =
        checkpoint::NewestName(from->path(), places);
    if (!newest.ok()) return Bad("name", newest.status().message());
    from->set_name(*std::move(newest));
  }
  const absl::StatusOr<checkpoint::Described> found =
      checkpoint::Describe({from->path(), from->name()}, places, files);
  if (!found.ok()) return Bad("path", found.status().message());
  from->set_sha256(found->sha256);
  if (spec->model().config_json().empty() && !spec->model().has_program()) {
    spec->mutable_model()->set_config_json(found->config_json);
  }
  const absl::Status same = CheckModel(*found, *spec);
  if (!same.ok()) return Bad("path", same.message());
  if (from->samples() != v1::JobSpec::SAMPLES_GO_ON) return absl::OkStatus();
  if (!found->manifest.has_value()) {
    return Bad("samples",
               "is go_on, but a model without a checkpoint's manifest does not "
               "say which samples it has taken in; use anew");
  }
  return TakeConsumed(*found->manifest, spec);
}

}  // namespace skerry::cli
