#include "cli/commands/restore.h"

#include <CLI/CLI.hpp>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "checkpoint/starting_point.h"
#include "cli/job_words.h"
#include "cli/places.h"
#include "cli/print_change.h"
#include "cli/shared_options.h"

namespace skerry::cli {
namespace {

struct RestoreArguments {
  std::string name;
  // Keep what the workers hold.
  bool from_workers = false;
  // Else go back to this one of the folder, or to the "newest".
  std::string checkpoint;
  // Where the checkpoints are; empty: in the folder that the job's file names.
  std::string folder;
};

absl::Status Describe(Client& client, const RestoreArguments& arguments,
                      runtime::Files& files, v1::SavedState* out) {
  const std::string& name = arguments.name;
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
  const std::unique_ptr<runtime::BlobStores> places = PlacesOver(files);
  std::string chosen = arguments.checkpoint;
  if (chosen == "newest") {
    SKERRY_ASSIGN_OR_RETURN(chosen, checkpoint::NewestName(folder, *places));
  }
  SKERRY_ASSIGN_OR_RETURN(
      const checkpoint::Described found,
      checkpoint::Describe({folder, chosen}, *places, files));
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

absl::Status RestoreJob(const RestoreArguments& arguments, Client& client,
                        runtime::Files& files, const Output& output) {
  v1::RestoreJobRequest request;
  request.set_name(arguments.name);
  if (arguments.from_workers) {
    request.set_workers(true);
  } else {
    SKERRY_RETURN_IF_ERROR(
        Describe(client, arguments, files, request.mutable_checkpoint()));
  }
  SKERRY_ASSIGN_OR_RETURN(const v1::JobView job,
                          client.Restore(std::move(request)));
  PrintChange(job, arguments.name, PhaseText(job.phase()), output);
  return absl::OkStatus();
}

void AddOptions(CLI::App& app, RestoreArguments& wanted) {
  AddJobName(app, wanted.name);
  CLI::Option_group* to = app.add_option_group("to");
  to->add_flag("--from-workers", wanted.from_workers,
               "with what the workers hold");
  to->add_option("--checkpoint", wanted.checkpoint,
                 "from this checkpoint, or from the `newest`")
      ->type_name("NAME");
  to->require_option(1);
  app.add_option("--folder", wanted.folder,
                 "of the checkpoints; default: that of the job's file")
      ->type_name("FOLDER");
}

}  // namespace

Command RestoreCommand() {
  return MakeCommand<RestoreArguments>({.words = "restore",
                                        .about = "how a diverged job goes on",
                                        .prints = Prints::kChange,
                                        .add_options = AddOptions,
                                        .run = RestoreJob});
}

}  // namespace skerry::cli
