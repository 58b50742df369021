#include "cli/commands/operator.h"

#include <CLI/CLI.hpp>
#include <cstddef>
#include <map>
#include <span>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "cli/shared_options.h"
#include "identity/operator_bundle.h"
#include "identity/x509/certificate_request.h"
#include "identity/x509/keys.h"
#include "runtime/command_line/number_option.h"
#include "runtime/command_line/word_option.h"
#include "runtime/posix/posix_files.h"

namespace skerry::cli {
namespace {

constexpr uint64_t kDayS = 24 * 3600;
constexpr char kStandardOutput[] = "-";

// The key is made here and stays in the bundle; the coordinator never sees it.
absl::Status CreateOperator(const OperatorArguments& wanted, Client& client,
                            const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const identity::PrivateKey key,
                          identity::PrivateKey::Make());
  v1::IssueOperatorRequest request;
  request.set_name(wanted.name);
  request.set_role(wanted.role);
  request.set_lifetime_s(wanted.days * kDayS);
  SKERRY_ASSIGN_OR_RETURN(*request.mutable_certificate_request(),
                          identity::MakeRequest(key));
  SKERRY_ASSIGN_OR_RETURN(const v1::IssueOperatorReply reply,
                          client.IssueOperator(request));
  const std::string text = identity::FormatBundle(
      {.address = reply.address(),
       .authorities = reply.authorities(),
       .chain = reply.chain(),
       .key = key.Pem()},
      absl::StrCat("Its holder is the ", wanted.role, " ", wanted.name));
  if (wanted.out == kStandardOutput) {
    output.out << text;
    return absl::OkStatus();
  }
  const std::string path =
      wanted.out.empty() ? wanted.name + ".yaml" : wanted.out;
  // For its owner alone.
  runtime::PosixFiles files;
  SKERRY_RETURN_IF_ERROR(
      files.WriteDurably(path, std::as_bytes(std::span(text))));
  output.out << path << "\n";
  output.err << "give it to " << wanted.name
             << ", who takes it into use with: skerryctl config import " << path
             << "\n";
  return absl::OkStatus();
}

void AddOperator(CLI::App& app, OperatorArguments& wanted) {
  app.add_option("NAME", wanted.name, "name of the person")->required();
  const std::map<std::string, std::string> roles = {
      {"viewer", "viewer"}, {"operator", "operator"}, {"admin", "admin"}};
  runtime::AddWord(app, "--role", wanted.role, roles,
                   "viewer, operator or admin")
      ->required();
  runtime::AddNumber(app, "--days", wanted.days, {1, 366},
                     "how long the certificate is valid")
      ->capture_default_str();
  app.add_option(
         "--out", wanted.out,
         "file of the bundle, - for standard output; default: NAME.yaml")
      ->type_name("FILE");
}

absl::Status ForgetWorker(const WorkerArguments& wanted, Client& client,
                          const Output& output) {
  SKERRY_RETURN_IF_ERROR(client.ForgetWorker(wanted.name));
  output.out << wanted.name << " forgotten\n";
  return absl::OkStatus();
}

}  // namespace

Command CreateOperatorCommand() {
  return MakeCommand<OperatorArguments>(
      {.words = "operator create",
       .about = "writes the bundle of another person",
       .prints = Prints::kText,
       .add_options = AddOperator,
       .run = CreateOperator});
}

Command ForgetWorkerCommand() {
  return MakeCommand<WorkerArguments>(
      {.words = "forget worker",
       .about = "frees the name of a worker that has joined",
       .prints = Prints::kText,
       .add_options = AddWorker,
       .run = ForgetWorker});
}

}  // namespace skerry::cli
