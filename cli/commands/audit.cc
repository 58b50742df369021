#include "cli/commands/audit.h"

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "cli/json.h"
#include "cli/shared_options.h"
#include "cli/views.h"

namespace skerry::cli {
namespace {

absl::Status AuditData(const JobArguments& arguments, Client& client,
                       const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const v1::AuditDataReply audit,
                          client.Audit(arguments.name));
  output.out << (output.form == OutputForm::kJson ? JsonText(audit)
                                                  : AuditDescription(audit));
  if (audit.doubled_size() == 0) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(
      "job ", arguments.name, " has samples in more than one commit"));
}

}  // namespace

Command AuditDataCommand() {
  return MakeCommand<JobArguments>(
      {.words = "audit data",
       .about = "whether every sample was used once",
       .add_options = AddJob,
       .run = AuditData});
}

}  // namespace skerry::cli
