#include "cli/commands/change.h"

#include "base/status.h"
#include "cli/job_file.h"
#include "cli/json.h"
#include "cli/views.h"

namespace skerry::cli {

absl::Status SubmitJob(Client& client, const std::string& file,
                       const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const v1::JobSpec spec, ReadJobFile(file));
  SKERRY_ASSIGN_OR_RETURN(const v1::SubmitJobReply reply, client.Submit(spec));
  for (const std::string& warning : reply.warnings()) {
    output.err << "warning: " << warning << "\n";
  }
  const std::string& name = reply.job().spec().name();
  if (output.form == OutputForm::kJson) {
    output.out << JsonText(reply.job());
  } else {
    output.out << name << "\n";
  }
  output.err << "accepted as job " << reply.job().id()
             << "; follow it with: skerryctl watch job " << name << "\n";
  return absl::OkStatus();
}

absl::Status CancelJob(Client& client, const std::string& name,
                       const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const v1::JobView job, client.Cancel(name));
  if (output.form == OutputForm::kJson) {
    output.out << JsonText(job);
  } else {
    output.out << name << " " << PhaseText(job.phase()) << "\n";
  }
  return absl::OkStatus();
}

}  // namespace skerry::cli
