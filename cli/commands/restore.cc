#include "cli/commands/restore.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "checkpoint/starting_point.h"
#include "cli/json.h"
#include "cli/views.h"

namespace skerry::cli {
namespace {

absl::Status Describe(Client& client, const std::string& name,
                      const RestoreArguments& arguments, runtime::Files& files,
                      v1::SavedState* out) {
  std::string folder = arguments.folder;
  if (folder.empty()) {
    SKERRY_ASSIGN_OR_RETURN(const v1::JobView job, client.GetJob(name));
    folder = job.spec().checkpoint().directory();
  }
  if (folder.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("job ", name,
                     " saves no checkpoints; keep what workers hold with "
                     "--from-workers, or start a new job"));
  }
  std::string chosen = arguments.checkpoint;
  if (chosen == "newest") {
    SKERRY_ASSIGN_OR_RETURN(chosen, checkpoint::NewestName(folder, files));
  }
  SKERRY_ASSIGN_OR_RETURN(const checkpoint::Described found,
                          checkpoint::Describe({folder, chosen}, files));
  if (!found.manifest.has_value() || found.manifest->job != name) {
    return absl::FailedPreconditionError(absl::StrCat(
        folder, "/", chosen, " is not a checkpoint of job ", name));
  }
  out->set_sequence(found.manifest->sequence);
  out->set_sha256(found.sha256);
  for (const checkpoint::CheckpointFile& file : found.manifest->files) {
    out->set_bytes(out->bytes() + file.bytes);
  }
  for (const data::SampleRange& range : found.manifest->consumed) {
    v1::SampleRange* one = out->add_consumed();
    one->set_begin(range.begin);
    one->set_end(range.end);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RestoreJob(Client& client, const std::string& name,
                        const RestoreArguments& arguments,
                        runtime::Files& files, const Output& output) {
  v1::RestoreJobRequest request;
  request.set_name(name);
  if (arguments.from_workers) {
    request.set_workers(true);
  } else {
    SKERRY_RETURN_IF_ERROR(
        Describe(client, name, arguments, files, request.mutable_checkpoint()));
  }
  SKERRY_ASSIGN_OR_RETURN(const v1::JobView job,
                          client.Restore(std::move(request)));
  if (output.form == OutputForm::kJson) {
    output.out << JsonText(job);
  } else if (output.form == OutputForm::kName) {
    output.out << name << "\n";
  } else {
    output.out << name << " " << PhaseText(job.phase()) << "\n";
  }
  return absl::OkStatus();
}

}  // namespace skerry::cli
