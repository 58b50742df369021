#include "cli/commands/config.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "base/status.h"
#include "cli/config_file.h"
#include "cli/table.h"
#include "transport/address.h"
#include "transport/loopback.h"

namespace skerry::cli {
namespace {

struct ContextArguments {
  std::string name;
  // set.
  std::string coordinator;
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
    json["contexts"].push_back(
        {{"name", context.name}, {"coordinator", context.coordinator}});
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

// The coordinator is an address of this machine; else InvalidArgument.
absl::Status SetContext(const ContextArguments& arguments,
                        runtime::Files& files, const Output& output) {
  const std::string& coordinator = arguments.coordinator;
  SKERRY_RETURN_IF_ERROR(
      transport::CheckAddress(coordinator, transport::AddressUse::kConnect));
  SKERRY_RETURN_IF_ERROR(transport::RequireLoopback(coordinator));
  SKERRY_RETURN_IF_ERROR(Change(files, [&](Config& config) {
    config.Set({arguments.name, coordinator});
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
       .add_options = AddContext,
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

absl::StatusOr<std::string> ResolveCoordinator(const std::string& name,
                                               const std::string& otherwise,
                                               const runtime::Files& files) {
  const absl::StatusOr<std::string> path = ConfigPath();
  if (!path.ok()) {
    if (name.empty()) return otherwise;
    return path.status();
  }
  SKERRY_ASSIGN_OR_RETURN(const Config config, ReadConfig(*path, files));
  const std::string& wanted = name.empty() ? config.current : name;
  if (wanted.empty()) return otherwise;
  SKERRY_ASSIGN_OR_RETURN(const Context context, config.Find(wanted));
  return context.coordinator;
}

}  // namespace skerry::cli
