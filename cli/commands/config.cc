#include "cli/commands/config.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "base/status.h"
#include "cli/config_file.h"
#include "cli/table.h"
#include "runtime/posix/machine.h"
#include "transport/address.h"
#include "transport/grpc/credentials.h"
#include "transport/loopback.h"

namespace skerry::cli {
namespace {

struct ContextArguments {
  std::string name;
  // set.
  std::string coordinator;
  std::string ca;
  std::string certificate;
  std::string key;
};

absl::Status Change(runtime::Files& files,
                    absl::FunctionRef<absl::Status(Config&)> change) {
  SKERRY_ASSIGN_OR_RETURN(const std::string path, ConfigPath());
  SKERRY_ASSIGN_OR_RETURN(Config config, ReadConfig(path, files));
  SKERRY_RETURN_IF_ERROR(change(config));
  return WriteConfig(path, config, files);
}

std::string JsonOf(const Config& config) {
  nlohmann::ordered_json json = {{"current", config.current}};
  json["contexts"] = nlohmann::ordered_json::array();
  for (const Context& context : config.contexts) {
    nlohmann::ordered_json one = {{"name", context.name},
                                  {"coordinator", context.coordinator}};
    if (!context.certificate.empty()) {
      one["ca"] = context.ca;
      one["cert"] = context.certificate;
      one["key"] = context.key;
    }
    json["contexts"].push_back(std::move(one));
  }
  return json.dump(1) + "\n";
}

std::string TableOf(const Config& config) {
  Table table({{"CURRENT"}, {"NAME"}, {"COORDINATOR"}});
  for (const Context& context : config.contexts) {
    table.AddRow({context.name == config.current ? "*" : " ", context.name,
                  context.coordinator});
  }
  return table.Text();
}

absl::Status GetContexts(const NoArguments&, runtime::Files& files,
                         const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const std::string path, ConfigPath());
  SKERRY_ASSIGN_OR_RETURN(const Config config, ReadConfig(path, files));
  output.out << (output.form == OutputForm::kJson ? JsonOf(config)
                                                  : TableOf(config));
  return absl::OkStatus();
}

// The path as every folder sees it.
std::string Absolute(const std::string& path) {
  return path.empty() ? path : std::filesystem::absolute(path).string();
}

// Without an identity the coordinator is an address of this machine; else
// InvalidArgument.
absl::Status SetContext(const ContextArguments& arguments,
                        runtime::Files& files, const Output& output) {
  const std::string& coordinator = arguments.coordinator;
  if (arguments.name.empty()) {
    return absl::InvalidArgumentError("the context has to have a name");
  }
  SKERRY_RETURN_IF_ERROR(
      transport::CheckAddress(coordinator, transport::AddressUse::kConnect));
  if (arguments.certificate.empty()) {
    SKERRY_RETURN_IF_ERROR(transport::RequireLoopback(coordinator));
  }
  SKERRY_RETURN_IF_ERROR(Change(files, [&](Config& config) {
    config.Set({arguments.name, coordinator, Absolute(arguments.ca),
                Absolute(arguments.certificate), Absolute(arguments.key)});
    return absl::OkStatus();
  }));
  output.err << "choose it with: skerryctl config use " << arguments.name
             << "\n";
  return absl::OkStatus();
}

absl::Status UseContext(const ContextArguments& arguments,
                        runtime::Files& files, const Output& output) {
  std::string coordinator;
  SKERRY_RETURN_IF_ERROR(Change(files, [&](Config& config) -> absl::Status {
    SKERRY_ASSIGN_OR_RETURN(const Context context, config.Find(arguments.name));
    coordinator = context.coordinator;
    config.current = arguments.name;
    return absl::OkStatus();
  }));
  output.err << "skerryctl speaks to " << coordinator << "\n";
  return absl::OkStatus();
}

absl::Status DeleteContext(const ContextArguments& arguments,
                           runtime::Files& files, const Output&) {
  return Change(files,
                [&](Config& config) { return config.Remove(arguments.name); });
}

void AddContext(CLI::App& app, ContextArguments& wanted) {
  app.add_option("CONTEXT", wanted.name, "name of the context")->required();
}

void AddContextAndIdentity(CLI::App& app, ContextArguments& wanted) {
  AddContext(app, wanted);
  CLI::Option* const certificate =
      app.add_option("--cert", wanted.certificate,
                     "PEM file of the operator's certificate; default: none, "
                     "and plaintext");
  CLI::Option* const key = app.add_option(
      "--key", wanted.key, "PEM file of the certificate's key; default: none");
  CLI::Option* const ca = app.add_option(
      "--ca", wanted.ca, "PEM file of the cluster's CA; default: none");
  // A ring, so that the one that is named as missing is the same in every run.
  certificate->needs(key)->type_name("FILE");
  key->needs(ca)->type_name("FILE");
  ca->needs(certificate)->type_name("FILE");
}

std::string TakeCoordinator(ContextArguments& wanted,
                            const SharedArguments& shared) {
  if (shared.coordinator_origin != SharedArguments::Origin::kLine) {
    return "config set: --coordinator is required";
  }
  wanted.coordinator = shared.coordinator;
  return "";
}

}  // namespace

Command GetContextsCommand() {
  return MakeCommand<NoArguments>(
      {.words = "config get",
       .about = "the contexts; * is the current one",
       .run = GetContexts});
}

Command SetContextCommand() {
  return MakeCommand<ContextArguments>(
      {.words = "config set",
       .about = "makes a context of --coordinator",
       .add_options = AddContextAndIdentity,
       .finish = TakeCoordinator,
       .run = SetContext});
}

Command UseContextCommand() {
  return MakeCommand<ContextArguments>(
      {.words = "config use",
       .about = "makes a context the current one",
       .add_options = AddContext,
       .run = UseContext});
}

Command DeleteContextCommand() {
  return MakeCommand<ContextArguments>({.words = "config delete",
                                        .about = "forgets a context",
                                        .add_options = AddContext,
                                        .run = DeleteContext});
}

absl::StatusOr<Context> ResolveContext(const std::string& name,
                                       const std::string& otherwise,
                                       const runtime::Files& files) {
  Context plain;
  plain.coordinator = otherwise;
  const absl::StatusOr<std::string> path = ConfigPath();
  if (!path.ok()) {
    if (name.empty()) return plain;
    return path.status();
  }
  SKERRY_ASSIGN_OR_RETURN(const Config config, ReadConfig(*path, files));
  const std::string& wanted = name.empty() ? config.current : name;
  if (wanted.empty()) return plain;
  return config.Find(wanted);
}

absl::StatusOr<std::shared_ptr<transport::Credentials>> CredentialsOf(
    const Context& context, const runtime::Files& files) {
  if (context.certificate.empty()) return transport::Credentials::Plaintext();
  return transport::Credentials::FromFiles(
      {context.ca, context.certificate, context.key}, files,
      [] { return absl::FromUnixMillis(runtime::UnixMs()); });
}

}  // namespace skerry::cli
