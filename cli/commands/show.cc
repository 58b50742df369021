#include "cli/commands/show.h"

#include "absl/strings/str_cat.h"
#include "base/release.h"
#include "base/status.h"
#include "cli/json.h"
#include "cli/views.h"

namespace skerry::cli {
namespace {

std::string ListText(const v1::ListJobsReply& jobs, const Output& output) {
  if (output.form == OutputForm::kName) return JobNames(jobs);
  return output.form == OutputForm::kWide ? WideJobsTable(jobs)
                                          : JobsTable(jobs);
}

}  // namespace

absl::Status GetJobs(Client& client, const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const v1::ListJobsReply jobs, client.ListJobs());
  output.out << (output.form == OutputForm::kJson ? JsonText(jobs)
                                                  : ListText(jobs, output));
  return absl::OkStatus();
}

absl::Status GetJob(Client& client, const std::string& name,
                    const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const v1::JobView job, client.GetJob(name));
  if (output.form == OutputForm::kJson) {
    output.out << JsonText(job);
    return absl::OkStatus();
  }
  v1::ListJobsReply jobs;
  *jobs.add_jobs() = job;
  output.out << ListText(jobs, output);
  return absl::OkStatus();
}

absl::Status GetWorkers(Client& client, const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const v1::ListWorkersReply workers,
                          client.ListWorkers());
  switch (output.form) {
    case OutputForm::kJson:
      output.out << JsonText(workers);
      break;
    case OutputForm::kName:
      output.out << WorkerNames(workers);
      break;
    case OutputForm::kWide:
      output.out << WideWorkersTable(workers);
      break;
    default:
      output.out << WorkersTable(workers);
  }
  return absl::OkStatus();
}

absl::Status GetIslands(Client& client, const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const v1::ListWorkersReply workers,
                          client.ListWorkers());
  if (output.form == OutputForm::kJson) {
    output.out << IslandsJson(workers);
  } else {
    output.out << (output.form == OutputForm::kName ? IslandNames(workers)
                                                    : IslandsTable(workers));
  }
  return absl::OkStatus();
}

absl::Status DescribeJob(Client& client, const std::string& name,
                         const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const v1::JobView job, client.GetJob(name));
  output.out << (output.form == OutputForm::kJson ? JsonText(job)
                                                  : JobDescription(job));
  return absl::OkStatus();
}

absl::Status AuditData(Client& client, const std::string& name,
                       const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const v1::AuditDataReply audit, client.Audit(name));
  output.out << (output.form == OutputForm::kJson ? JsonText(audit)
                                                  : AuditDescription(audit));
  if (audit.doubled_size() == 0) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("job ", name, " has samples in more than one commit"));
}

absl::Status ShowVersion(Client& client, const Output& output) {
  const absl::StatusOr<v1::GetVersionReply> reply = client.GetVersion();
  if (output.form == OutputForm::kJson) {
    SKERRY_RETURN_IF_ERROR(reply.status());
    output.out << JsonText(*reply);
    return absl::OkStatus();
  }
  output.out << "skerryctl    " << kRelease << ", protocol " << kProtocolVersion
             << "\n";
  SKERRY_RETURN_IF_ERROR(reply.status());
  output.out << "coordinator  " << reply->release() << ", protocol "
             << reply->protocol_version() << "\n";
  return absl::OkStatus();
}

}  // namespace skerry::cli
