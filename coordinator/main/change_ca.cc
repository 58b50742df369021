#include "coordinator/main/change_ca.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "coordinator/service/authority_folders.h"
#include "coordinator/service/cluster_identity.h"
#include "runtime/command_line/parse_words.h"

namespace skerry::coordinator {
namespace {

const char* PurposeOf(CaChange change) {
  return change == CaChange::kReplace
             ? "Makes the next CA of the cluster. From then on it writes all "
               "certificates, and the old one is trusted until it is retired."
             : "Ends the trust in the CA that was replaced.";
}

}  // namespace

const char* CommandOf(CaChange change) {
  return change == CaChange::kReplace ? "replace-ca" : "retire-ca";
}

ParsedCaChange ParseCaChange(CaChange change, std::vector<std::string> words) {
  CaChangeArguments arguments{.change = change, .state = ""};
  CLI::App app{PurposeOf(change),
               absl::StrCat("skerry-coordinator ", CommandOf(change))};
  app.add_option("--state", arguments.state, "folder of the coordinator")
      ->required();
  if (change == CaChange::kRetire) {
    app.add_flag("--at-once", arguments.at_once,
                 "also before all workers had the time to renew their "
                 "certificates; those that have not are shut out");
  }
  app.footer(
      "Run it as the user that the coordinator runs as.\n"
      "Exit codes: 0 done, 2 usage, 3 the state folder cannot be used.");
  const auto ended = runtime::ParseWords(app, std::move(words));
  if (ended.has_value()) {
    return {.arguments = std::nullopt,
            .text = ended->text,
            .code = static_cast<ExitCode>(ended->exit_code)};
  }
  return {.arguments = std::move(arguments), .text = ""};
}

absl::StatusOr<std::string> ChangeCa(const CaChangeArguments& arguments,
                                     absl::Time now, runtime::Files& files) {
  const absl::Status there =
      ClusterIdentity::Open(arguments.state, files).status();
  if (absl::IsNotFound(there)) {
    return absl::FailedPreconditionError(absl::StrCat(
        arguments.state,
        " has no cluster; make one with: skerry-coordinator init"));
  }
  SKERRY_RETURN_IF_ERROR(there);
  if (arguments.change == CaChange::kReplace) {
    SKERRY_RETURN_IF_ERROR(ReplaceAuthority(arguments.state, now, files));
    return absl::StrCat(
        "a new CA writes certificates now; the old one is trusted until\n"
        "  skerry-coordinator retire-ca --state ",
        arguments.state,
        "\nBefore that, give each operator a new bundle: skerryctl operator "
        "create\n");
  }
  SKERRY_RETURN_IF_ERROR(
      RetireAuthority(arguments.state, arguments.at_once, now, files));
  SKERRY_ASSIGN_OR_RETURN(const ClusterIdentity left,
                          ClusterIdentity::Open(arguments.state, files));
  return absl::StrCat(
      "the old CA is not trusted any more\npin of the CA: ", left.pin(), "\n");
}

}  // namespace skerry::coordinator
