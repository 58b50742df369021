#include "cli/commands/revocation.h"

#include <CLI/CLI.hpp>
#include <string>

#include "base/status.h"
#include "cli/json.h"
#include "cli/table.h"

namespace skerry::cli {
namespace {

struct RevocationArguments {
  std::string what;
  std::string reason;
};

void AddWhat(CLI::App& app, RevocationArguments& wanted) {
  app.add_option("WHAT", wanted.what,
                 "worker/NAME, island/ISLAND/worker/NAME, operator/ROLE/NAME, "
                 "or a certificate's serial number")
      ->required();
}

absl::Status Revoke(const RevocationArguments& wanted, Client& client,
                    const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const v1::RevocationView revoked,
                          client.Revoke(wanted.what, wanted.reason));
  output.out << revoked.what() << " revoked\n";
  return absl::OkStatus();
}

absl::Status Lift(const RevocationArguments& wanted, Client& client,
                  const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const v1::RevocationView lifted,
                          client.LiftRevocation(wanted.what));
  output.out << lifted.what() << " believed again\n";
  return absl::OkStatus();
}

absl::Status List(const NoArguments&, Client& client, const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const v1::ListRevocationsReply revoked,
                          client.ListRevocations());
  if (output.form == OutputForm::kJson) {
    output.out << JsonText(revoked);
    return absl::OkStatus();
  }
  Table table({{"REVOKED"}, {"REASON"}});
  for (const v1::RevocationView& one : revoked.revocations()) {
    table.AddRow({one.what(), one.reason()});
  }
  output.out << table.Text();
  return absl::OkStatus();
}

}  // namespace

Command RevokeCommand() {
  return MakeCommand<RevocationArguments>(
      {.words = "revoke",
       .about = "has nobody in the cluster believe a certificate any more",
       .prints = Prints::kText,
       .add_options =
           +[](CLI::App& app, RevocationArguments& wanted) {
             AddWhat(app, wanted);
             app.add_option("--reason", wanted.reason,
                            "why, for people; default: nothing")
                 ->type_name("TEXT");
           },
       .run = Revoke});
}

Command ListRevocationsCommand() {
  return MakeCommand<NoArguments>({.words = "revocation list",
                                   .about = "what is revoked, and why",
                                   .run = List});
}

Command LiftRevocationCommand() {
  return MakeCommand<RevocationArguments>({.words = "revocation lift",
                                           .about = "takes a revocation back",
                                           .prints = Prints::kText,
                                           .add_options = AddWhat,
                                           .run = Lift});
}

}  // namespace skerry::cli
