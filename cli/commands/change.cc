#include "cli/commands/change.h"

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "cli/commands/plan.h"
#include "cli/confirm.h"
#include "cli/job_file.h"
#include "cli/json.h"
#include "cli/views.h"

namespace skerry::cli {
namespace {

void Print(const google::protobuf::Message& view, const std::string& name,
           const std::string& state, const Output& output) {
  if (output.form == OutputForm::kJson) {
    output.out << JsonText(view);
  } else if (output.form == OutputForm::kName) {
    output.out << name << "\n";
  } else {
    output.out << name << " " << state << "\n";
  }
}

// Workers look at the data set first, so that the coordinator can refuse a job
// that none of them can serve. What it says of the plan, it says of the job.
absl::StatusOr<v1::SubmitJobReply> Submit(Client& client, const JobFile& job,
                                          bool apply) {
  v1::PlanJobRequest request;
  *request.mutable_spec() = job.spec;
  const absl::Status planned = PlanWithData(client, request).status();
  if (absl::IsUnavailable(planned)) return planned;
  absl::StatusOr<v1::SubmitJobReply> reply = client.Submit(job.spec, apply);
  if (!reply.ok()) return job.places.Locate(reply.status());
  return reply;
}

}  // namespace

absl::StatusOr<std::string> SubmitJob(Client& client, const std::string& file,
                                      const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const JobFile job, ReadJobFile(file));
  SKERRY_ASSIGN_OR_RETURN(const v1::SubmitJobReply reply,
                          Submit(client, job, false));
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
  return name;
}

absl::Status ApplyJob(Client& client, const std::string& file,
                      const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const JobFile job, ReadJobFile(file));
  SKERRY_ASSIGN_OR_RETURN(const v1::SubmitJobReply reply,
                          Submit(client, job, true));
  for (const std::string& warning : reply.warnings()) {
    output.err << "warning: " << warning << "\n";
  }
  Print(reply.job(), reply.job().spec().name(),
        reply.unchanged() ? "unchanged" : "submitted", output);
  return absl::OkStatus();
}

absl::Status CancelJob(Client& client, const std::string& name, bool sure,
                       const Output& output) {
  SKERRY_RETURN_IF_ERROR(Confirm("cancel job " + name, sure, output));
  SKERRY_ASSIGN_OR_RETURN(const v1::JobView job, client.Cancel(name));
  Print(job, name, PhaseText(job.phase()), output);
  return absl::OkStatus();
}

absl::Status DeleteJob(Client& client, const std::string& name, bool sure,
                       const Output& output) {
  SKERRY_RETURN_IF_ERROR(Confirm("delete job " + name, sure, output));
  SKERRY_ASSIGN_OR_RETURN(const v1::JobView job, client.Delete(name));
  Print(job, name, "deleted", output);
  return absl::OkStatus();
}

absl::Status PauseJob(Client& client, const std::string& name,
                      const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const v1::JobView job, client.Pause(name));
  Print(job, name, PhaseText(job.phase()), output);
  output.err << "rounds that run are finished and delivered; go on with: "
                "skerryctl resume "
             << name << "\n";
  return absl::OkStatus();
}

absl::Status ResumeJob(Client& client, const std::string& name,
                       const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const v1::JobView job, client.Resume(name));
  Print(job, name, PhaseText(job.phase()), output);
  return absl::OkStatus();
}

absl::Status SetIntent(Client& client, const std::string& worker,
                       v1::WorkerIntent intent, const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const v1::WorkerView view,
                          client.SetIntent(worker, intent));
  Print(view, worker, view.state(), output);
  if (intent == v1::WORKER_INTENT_DRAIN && view.state() != "drained") {
    output.err << "it delivers what it owes and leaves its jobs; wait with: "
                  "skerryctl wait worker "
               << worker << " --for drained\n";
  }
  return absl::OkStatus();
}

}  // namespace skerry::cli
