#include "cli/commands/clean.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/job_folder_name.h"
#include "base/status.h"
#include "cli/confirm.h"
#include "cli/find_worker.h"
#include "cli/shared_options.h"
#include "cli/table.h"
#include "cli/worker_view.h"

namespace skerry::cli {
namespace {

struct CleanArguments {
  std::string worker;
  // Those to remove. Without any, all those of jobs that the coordinator does
  // not know.
  std::vector<std::string> folders;
  // Does not ask.
  bool sure = false;
};

absl::Status AddNamed(const std::vector<std::string>& folders,
                      v1::RemoveStoredJobsRequest* request) {
  for (const std::string& folder : folders) {
    const auto parts = ParseJobFolderName(folder);
    if (!parts.has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat(folder,
                       " is no name of a job's folder; skerryctl "
                       "describe worker ",
                       request->worker(), " shows those that there are"));
    }
    v1::StoredJobKey* key = request->add_stored_jobs();
    key->set_job(parts->first);
    key->set_uid(parts->second);
  }
  return absl::OkStatus();
}

// Returns the bytes of the folders that are to be removed.
uint64_t BytesOf(const v1::WorkerView& worker,
                 const v1::RemoveStoredJobsRequest& request) {
  uint64_t bytes = 0;
  for (const v1::StoredJobView& stored : worker.stored_jobs()) {
    for (const v1::StoredJobKey& key : request.stored_jobs()) {
      const bool same = key.job() == stored.job() && key.uid() == stored.uid();
      bytes += same ? stored.bytes() : 0;
    }
  }
  return bytes;
}

absl::Status CleanWorker(const CleanArguments& arguments, Client& client,
                         const Output& output) {
  const std::string& name = arguments.worker;
  SKERRY_ASSIGN_OR_RETURN(const v1::WorkerView worker,
                          FindWorker(client, name));
  v1::RemoveStoredJobsRequest request;
  request.set_worker(name);
  SKERRY_RETURN_IF_ERROR(AddNamed(arguments.folders, &request));
  if (arguments.folders.empty()) {
    for (const v1::StoredJobView& stored : worker.stored_jobs()) {
      if (stored.state() != kUnknownJob) continue;
      v1::StoredJobKey* key = request.add_stored_jobs();
      key->set_job(stored.job());
      key->set_uid(stored.uid());
    }
  }
  if (request.stored_jobs_size() == 0) {
    output.err << "worker " << name << " has no folder of a job that the "
               << "coordinator does not know\n";
    return absl::OkStatus();
  }
  SKERRY_RETURN_IF_ERROR(Confirm(
      absl::StrCat("remove ", request.stored_jobs_size(), " folders with ",
                   BytesText(BytesOf(worker, request)),
                   " from the disk of worker ", name),
      arguments.sure, output));
  SKERRY_RETURN_IF_ERROR(client.RemoveStoredJobs(request).status());
  for (const v1::StoredJobKey& key : request.stored_jobs()) {
    output.out << JobFolderName(key.job(), key.uid()) << "\n";
  }
  return absl::OkStatus();
}

void AddOptions(CLI::App& app, CleanArguments& wanted) {
  AddWorkerName(app, wanted.worker);
  app.add_option("FOLDER", wanted.folders,
                 "these alone, as `skerryctl describe worker` names them; "
                 "also of jobs that have ended");
  AddYes(app, wanted.sure);
}

}  // namespace

Command CleanCommand() {
  return MakeCommand<CleanArguments>(
      {.words = "clean",
       .about = "removes from a worker's disk what it has of jobs that the "
                "coordinator does not know",
       .prints = Prints::kChange,
       .add_options = AddOptions,
       .run = CleanWorker});
}

}  // namespace skerry::cli
