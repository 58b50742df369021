#include "cli/commands/config.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/functional/function_ref.h"
#include "base/status.h"
#include "cli/table.h"
#include "transport/address.h"
#include "transport/loopback.h"

namespace skerry::cli {
namespace {

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

}  // namespace

absl::Status GetContexts(const runtime::Files& files, const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const std::string path, ConfigPath());
  SKERRY_ASSIGN_OR_RETURN(const Config config, ReadConfig(path, files));
  output.out << (output.form == OutputForm::kJson ? JsonOf(config)
                                                  : TableOf(config));
  return absl::OkStatus();
}

absl::Status SetContext(const std::string& name, const std::string& coordinator,
                        runtime::Files& files, const Output& output) {
  SKERRY_RETURN_IF_ERROR(
      transport::CheckAddress(coordinator, transport::AddressUse::kConnect));
  SKERRY_RETURN_IF_ERROR(transport::RequireLoopback(coordinator));
  SKERRY_RETURN_IF_ERROR(Change(files, [&](Config& config) {
    config.Set({name, coordinator});
    return absl::OkStatus();
  }));
  output.err << "choose it with: skerryctl config use " << name << "\n";
  return absl::OkStatus();
}

absl::Status UseContext(const std::string& name, runtime::Files& files,
                        const Output& output) {
  std::string coordinator;
  SKERRY_RETURN_IF_ERROR(Change(files, [&](Config& config) -> absl::Status {
    SKERRY_ASSIGN_OR_RETURN(const Context context, config.Find(name));
    coordinator = context.coordinator;
    config.current = name;
    return absl::OkStatus();
  }));
  output.err << "skerryctl speaks to " << coordinator << "\n";
  return absl::OkStatus();
}

absl::Status DeleteContext(const std::string& name, runtime::Files& files) {
  return Change(files, [&](Config& config) { return config.Remove(name); });
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
