#include "worker/daemon/saved_state.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/hash.h"
#include "base/sha256.h"
#include "base/status.h"
#include "checkpoint/checkpoint_store.h"
#include "checkpoint/data_tokenizer.h"
#include "checkpoint/model_files.h"
#include "checkpoint/tensor_table.h"
#include "planner/spans.h"
#include "runtime/log.h"

namespace skerry::worker {
namespace {

// The anchor's values of each span, then as many of momentum or none.
absl::StatusOr<checkpoint::ModelState> Join(const StateToSave& from) {
  const uint64_t average_begin =
      from.program == nullptr ? 0
                              : checkpoint::AverageBeginOf(from.program->table);
  SKERRY_ASSIGN_OR_RETURN(
      const auto cut,
      planner::CutFragments(from.elements, job::FragmentCount(from.spec),
                            from.spec.exchange.spans, average_begin));
  std::vector<planner::SpanRange> spans;
  for (const auto& fragment : cut) {
    spans.insert(spans.end(), fragment.begin(), fragment.end());
  }
  if (spans.size() != from.pieces.size() ||
      spans.size() != from.order.pieces.size()) {
    return absl::InternalError(
        absl::StrCat("the order names ", from.pieces.size(),
                     " spans, the model has ", spans.size()));
  }
  checkpoint::ModelState state;
  state.config_json = from.spec.model.config_json;
  if (from.program != nullptr) state.program = *from.program;
  state.anchor.resize(from.elements);
  const bool with_momentum =
      !spans.empty() && from.pieces[0].size() > spans[0].size() * sizeof(float);
  if (with_momentum) state.outer_momentum.resize(from.elements);
  for (size_t i = 0; i < spans.size(); ++i) {
    const size_t part = spans[i].size() * sizeof(float);
    const SharedBytes& piece = from.pieces[i];
    if (Hash64(piece.bytes()) != from.order.pieces[i].hash) {
      return absl::DataLossError(
          absl::StrCat("the base of span ", i, " is damaged on its disk"));
    }
    if (piece.size() != (with_momentum ? 2 * part : part)) {
      return absl::DataLossError(
          absl::StrCat("the base of span ", i, " has ", piece.size(),
                       " bytes, which does not fit the model"));
    }
    std::memcpy(&state.anchor[spans[i].begin], piece.bytes().data(), part);
    if (!with_momentum) continue;
    std::memcpy(&state.outer_momentum[spans[i].begin],
                piece.bytes().data() + part, part);
  }
  return state;
}

checkpoint::Manifest About(const StateToSave& from) {
  checkpoint::Manifest about{.job = from.spec.name,
                             .job_id = from.job.value(),
                             .sequence = from.order.sequence.value(),
                             .samples = from.order.samples_committed,
                             .files = {}};
  const job::JobSpec::Data& data = from.spec.data;
  if (from.program != nullptr) {
    about.layout_hash = from.program->layout_hash;
    about.order =
        checkpoint::SampleOrder{.data_sha256 = "",
                                .seed = data.seed,
                                .data_id = data.id,
                                .data_samples = data.samples.value_or(0)};
  } else {
    about.order = checkpoint::SampleOrder{
        .data_sha256 = data.manifest_sha256,
        .seed = data.seed,
        .sequence_tokens = data.sequence_tokens.value_or(0)};
  }
  const auto consumed = from.order.consumed.ranges();
  about.consumed.assign(consumed.begin(), consumed.end());
  return about;
}

// A coordinator that has lost its journal gives numbers again, so a folder may
// have the same sequence of another history.
absl::Status CheckSame(const checkpoint::CheckpointStore& store,
                       const std::string& name,
                       const checkpoint::ModelState& state) {
  SKERRY_ASSIGN_OR_RETURN(const checkpoint::Manifest manifest,
                          store.Find(name));
  return checkpoint::WriteState(
      state, checkpoint::ModelFileOptions().file_bytes_max,
      [&](const std::string& file, runtime::ByteSpan bytes) {
        // What stands beside the values may be another release's wording.
        if (!file.ends_with(".safetensors")) return absl::OkStatus();
        const std::string sha256 = Sha256Hex(bytes);
        const bool same =
            std::any_of(manifest.files.begin(), manifest.files.end(),
                        [&](const checkpoint::CheckpointFile& one) {
                          return one.file == file && one.sha256 == sha256;
                        });
        return same ? absl::OkStatus()
                    : absl::FailedPreconditionError(absl::StrCat(
                          name, " is there with another state; give each job ",
                          "a folder of its own"));
      });
}

absl::Status WriteTo(checkpoint::CheckpointStore& store,
                     const StateToSave& from, runtime::Files& files) {
  absl::StatusOr<checkpoint::CheckpointWriter> writer =
      store.Begin(About(from));
  const bool is_there = absl::IsAlreadyExists(writer.status());
  if (!is_there) SKERRY_RETURN_IF_ERROR(writer.status());
  SKERRY_ASSIGN_OR_RETURN(checkpoint::ModelState state, Join(from));
  if (is_there) {
    return CheckSame(
        store, checkpoint::CheckpointName(from.order.sequence.value()), state);
  }
  if (from.program == nullptr) {
    state.tokenizer = checkpoint::DataTokenizer(
        from.spec.data.path, from.spec.data.manifest_sha256, files);
  }
  SKERRY_RETURN_IF_ERROR(checkpoint::WriteState(
      state, checkpoint::ModelFileOptions().file_bytes_max,
      [&writer](const std::string& file, runtime::ByteSpan bytes) {
        return writer->Add(file, bytes);
      }));
  if (from.inner.size() > 0) {
    SKERRY_RETURN_IF_ERROR(writer->Add(std::string(checkpoint::kInnerStateFile),
                                       from.inner.bytes()));
  }
  return writer->Seal();
}

absl::Status Save(const StateToSave& from, runtime::BlobStores& places,
                  runtime::Files& files, CheckpointFact* outcome) {
  const auto where = from.spec.checkpoint.value_or(job::JobSpec::Checkpoints());
  SKERRY_ASSIGN_OR_RETURN(const auto blobs, places.Open(where.directory));
  checkpoint::CheckpointStore store(*blobs);
  const std::string name =
      checkpoint::CheckpointName(from.order.sequence.value());
  SKERRY_RETURN_IF_ERROR(WriteTo(store, from, files));
  SKERRY_RETURN_IF_ERROR(store.Verify(name));
  SKERRY_ASSIGN_OR_RETURN(const checkpoint::Manifest manifest,
                          store.Find(name));
  uint64_t bytes = 0;
  for (const checkpoint::CheckpointFile& file : manifest.files) {
    bytes += file.bytes;
  }
  outcome->bytes = bytes;
  SKERRY_ASSIGN_OR_RETURN(
      const std::vector<std::byte> text,
      blobs->Get(
          absl::StrCat(name, "/", std::string(checkpoint::kManifestFile))));
  outcome->sha256 = Sha256Hex(text);
  // What is too old to be kept is no part of what was ordered.
  std::vector<std::string> stay = {name};
  for (const Sequence sequence : from.order.pinned) {
    stay.push_back(checkpoint::CheckpointName(sequence.value()));
  }
  const auto removed = store.KeepNewest(where.keep, stay);
  if (!removed.ok()) {
    runtime::Log(runtime::Severity::kWarning, "worker.checkpoint.not_removed",
                 {{"job", from.job.value()}, {"cause", removed.status()}});
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckCheckpointFolder(JobId job, const job::JobSpec& spec,
                                   const std::string& worker,
                                   runtime::BlobStores& places) {
  const std::string folder =
      spec.checkpoint.has_value() ? spec.checkpoint->directory : "";
  checkpoint::Manifest about;
  about.job = spec.name;
  about.job_id = job.value();
  absl::StatusOr<std::unique_ptr<runtime::BlobStore>> blobs =
      places.Open(folder);
  const absl::Status usable =
      blobs.ok()
          ? checkpoint::CheckpointStore(**blobs).CheckUsable(about, worker)
          : blobs.status();
  return Annotate(usable, absl::StrCat("checkpoint.directory ", folder));
}

CheckpointFact SaveState(const StateToSave& state, runtime::BlobStores& places,
                         runtime::Files& files) {
  CheckpointFact outcome;
  outcome.sequence = state.order.sequence;
  const absl::Status saved = Save(state, places, files, &outcome);
  if (!saved.ok()) outcome.error = std::string(saved.message());
  return outcome;
}

}  // namespace skerry::worker
