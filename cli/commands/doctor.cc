#include "cli/commands/doctor.h"

#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "cli/diagnosis.h"
#include "identity/x509/identity_folder.h"
#include "runtime/posix/folder_lock.h"
#include "runtime/posix/machine.h"
#include "runtime/posix/posix_files.h"
#include "transport/grpc/credentials.h"

namespace skerry::cli {
namespace {

struct DoctorArguments {
  // State folders of daemons on this machine.
  std::vector<std::string> folders;
};

constexpr int kPortMsMax = 1000;

std::vector<std::string> AddressesOf(const v1::WorkerView& worker) {
  std::vector<std::string> addresses = {worker.address()};
  addresses.insert(addresses.end(), worker.more_addresses().begin(),
                   worker.more_addresses().end());
  return addresses;
}

// Ports of workers, all at once.
void TryPorts(const transport::Credentials& credentials, Evidence& evidence) {
  std::multimap<std::string, std::shared_ptr<grpc::Channel>> channels;
  for (const v1::WorkerView& worker : evidence.workers.workers()) {
    // The others' are not for plaintext from here, or not to be dialled.
    if (worker.state() == "lost" || IsNotDialled(worker) ||
        !credentials.CheckReach(worker.address()).ok()) {
      continue;
    }
    const std::vector<std::string> addresses = AddressesOf(worker);
    for (const std::string& address : addresses) {
      credentials.peers().Set(address, worker.worker());
      const auto channel = credentials.ChannelTo(
          address, transport::ServerKind::kWorker, grpc::ChannelArguments());
      channel->GetState(true);
      channels.emplace(worker.worker(), channel);
    }
    evidence.ports[worker.worker()] = absl::UnavailableError(absl::StrCat(
        "its address ", absl::StrJoin(addresses, " or "), " does not answer"));
  }
  const gpr_timespec end =
      gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                   gpr_time_from_millis(kPortMsMax, GPR_TIMESPAN));
  for (const auto& [worker, channel] : channels) {
    if (channel->WaitForConnected(end)) {
      evidence.ports[worker] = absl::OkStatus();
    }
  }
}

// OK where the folder has no identity. A daemon goes on with the one that it
// has until that expires.
absl::Status CheckIdentityIn(const std::string& folder) {
  const runtime::PosixFiles files;
  const auto found = identity::ReadIdentity(folder, files);
  if (absl::IsNotFound(found.status())) return absl::OkStatus();
  SKERRY_RETURN_IF_ERROR(found.status());
  return Annotate(
      identity::CheckIdentity(*found, absl::FromUnixMillis(runtime::UnixMs()))
          .status(),
      absl::StrCat("the daemon cannot use the identity in ", folder));
}

absl::Status WhyUnusable(const std::string& path) {
  if (access(path.c_str(), R_OK | W_OK | X_OK) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("it cannot be used: ", std::strerror(errno)));
  }
  // That a daemon serves from it is as it should be.
  const auto lock = runtime::FolderLock::Share(path, "doctor");
  if (!lock.ok() && !absl::IsFailedPrecondition(lock.status())) {
    return lock.status();
  }
  return CheckIdentityIn(path + identity::kIdentityFolder);
}

absl::StatusOr<ExitCode> RunDoctor(const DoctorArguments& arguments,
                                   Client& client, const Output& output) {
  Evidence evidence;
  evidence.address = client.address();
  const int64_t before = runtime::LookAt("").unix_ms;
  evidence.version = client.GetVersion();
  evidence.asked_half_ms = (runtime::LookAt("").unix_ms - before) / 2;
  evidence.asked_unix_ms = before + evidence.asked_half_ms;
  if (evidence.version.ok()) {
    evidence.workers = client.ListWorkers().value_or(v1::ListWorkersReply());
    evidence.jobs = client.ListJobs().value_or(v1::ListJobsReply());
    TryPorts(*client.credentials(), evidence);
  }
  for (const std::string& folder : arguments.folders) {
    evidence.folders.push_back(
        {folder, WhyUnusable(folder), runtime::LookAt(folder)});
  }
  const std::vector<Check> checks = Diagnose(evidence);
  output.out << (output.form == OutputForm::kJson ? ChecksJson(checks)
                                                  : ChecksText(checks));
  if (absl::IsUnavailable(evidence.version.status()) ||
      absl::IsDeadlineExceeded(evidence.version.status())) {
    return ExitCode::kUnavailable;
  }
  return CountProblems(checks) > 0 ? ExitCode::kConflict : ExitCode::kOk;
}

void AddOptions(CLI::App& app, DoctorArguments& wanted) {
  app.add_option("--state", wanted.folders,
                 "state folder of a daemon on this machine; may be repeated; "
                 "default: none")
      ->type_name("FOLDER")
      ->allow_extra_args(false);
}

}  // namespace

Command DoctorCommand() {
  return MakeCommand<DoctorArguments>(
      {.words = "doctor",
       .about = "looks at everything and says what is wrong",
       .add_options = AddOptions,
       .run = RunDoctor});
}

}  // namespace skerry::cli
