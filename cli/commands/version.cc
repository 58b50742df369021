#include "cli/commands/version.h"

#include "absl/status/statusor.h"
#include "base/release.h"
#include "base/status.h"
#include "cli/json.h"

namespace skerry::cli {
namespace {

absl::Status ShowVersion(const NoArguments&, Client& client,
                         const Output& output) {
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

}  // namespace

Command VersionCommand() {
  return MakeCommand<NoArguments>(
      {.words = "version",
       .about = "releases of skerryctl and of the coordinator",
       .run = ShowVersion});
}

}  // namespace skerry::cli
