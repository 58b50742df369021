#include "cli/config_file.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "cli/did_you_mean.h"
#include "cli/yaml_mapping.h"
#include "nlohmann/json.hpp"

namespace skerry::cli {
namespace {

constexpr size_t kConfigBytesMax = 1 << 20;

std::vector<std::string> NamesOf(const Config& config) {
  std::vector<std::string> names;
  for (const Context& context : config.contexts) names.push_back(context.name);
  return names;
}

// A double-quoted scalar of YAML.
std::string Quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false,
                                   nlohmann::json::error_handler_t::replace);
}

absl::StatusOr<Config> Parse(const std::string& path, const YAML::Node& root) {
  Config config;
  if (root.IsNull()) return config;
  SKERRY_RETURN_IF_ERROR(CheckYamlFields(path, root, {"current", "contexts"}));
  if (root["current"]) {
    SKERRY_ASSIGN_OR_RETURN(config.current, YamlField(path, root, "current"));
  }
  const YAML::Node contexts = root["contexts"];
  if (!contexts.IsDefined() || contexts.IsNull()) return config;
  if (!contexts.IsSequence()) {
    return WrongYaml(path, contexts.Mark(), "contexts has to be a list");
  }
  for (const YAML::Node& node : contexts) {
    SKERRY_RETURN_IF_ERROR(CheckYamlFields(
        path, node, {"name", "coordinator", "ca", "cert", "key"}));
    Context context;
    SKERRY_ASSIGN_OR_RETURN(context.name, YamlField(path, node, "name"));
    SKERRY_ASSIGN_OR_RETURN(context.coordinator,
                            YamlField(path, node, "coordinator"));
    if (node["ca"] || node["cert"] || node["key"]) {
      SKERRY_ASSIGN_OR_RETURN(context.ca, YamlField(path, node, "ca"));
      SKERRY_ASSIGN_OR_RETURN(context.certificate,
                              YamlField(path, node, "cert"));
      SKERRY_ASSIGN_OR_RETURN(context.key, YamlField(path, node, "key"));
    }
    config.Set(std::move(context));
  }
  return config;
}

}  // namespace

absl::StatusOr<Context> Config::Find(const std::string& name) const {
  for (const Context& context : contexts) {
    if (context.name == name) return context;
  }
  return absl::NotFoundError(absl::StrCat("no context named ", name,
                                          DidYouMean(name, NamesOf(*this))));
}

void Config::Set(Context context) {
  const auto at = std::lower_bound(
      contexts.begin(), contexts.end(), context.name,
      [](const Context& a, const std::string& name) { return a.name < name; });
  if (at != contexts.end() && at->name == context.name) {
    *at = std::move(context);
  } else {
    contexts.insert(at, std::move(context));
  }
}

absl::Status Config::Remove(const std::string& name) {
  SKERRY_RETURN_IF_ERROR(Find(name).status());
  std::erase_if(contexts, [&](const Context& c) { return c.name == name; });
  if (current == name) current.clear();
  return absl::OkStatus();
}

absl::StatusOr<std::string> ConfigPath() {
  const auto value = [](const char* name) {
    const char* text = std::getenv(name);
    return std::string(text == nullptr ? "" : text);
  };
  const std::string given = value("XDG_CONFIG_HOME");
  if (!given.empty()) return given + "/skerry/config.yaml";
  const std::string home = value("HOME");
  if (!home.empty()) return home + "/.config/skerry/config.yaml";
  return absl::FailedPreconditionError(
      "neither HOME nor XDG_CONFIG_HOME is set, so there is no place for "
      "contexts");
}

absl::StatusOr<Config> ReadConfig(const std::string& path,
                                  const runtime::Files& files) {
  const absl::StatusOr<std::vector<std::byte>> bytes = files.Read(path);
  if (absl::IsNotFound(bytes.status())) return Config();
  SKERRY_RETURN_IF_ERROR(bytes.status());
  if (bytes->size() > kConfigBytesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": more than ", kConfigBytesMax, " bytes"));
  }
  std::string text;
  for (const std::byte byte : *bytes) text += static_cast<char>(byte);
  Config config;
  SKERRY_RETURN_IF_ERROR(
      WithYaml(path, text, [&](const YAML::Node& root) -> absl::Status {
        SKERRY_ASSIGN_OR_RETURN(config, Parse(path, root));
        return absl::OkStatus();
      }));
  return config;
}

absl::Status WriteConfig(const std::string& path, const Config& config,
                         runtime::Files& files) {
  SKERRY_RETURN_IF_ERROR(
      files.MakeDirectory(std::filesystem::path(path).parent_path().string()));
  const std::string text = ConfigText(config);
  return files.WriteDurably(path, std::as_bytes(std::span(text)));
}

std::string ConfigText(const Config& config) {
  std::string text;
  if (!config.current.empty()) {
    absl::StrAppend(&text, "current: ", Quoted(config.current), "\n");
  }
  absl::StrAppend(&text, "contexts:", config.contexts.empty() ? " []\n" : "\n");
  for (const Context& context : config.contexts) {
    absl::StrAppend(&text, "  - name: ", Quoted(context.name),
                    "\n    coordinator: ", Quoted(context.coordinator), "\n");
    if (context.certificate.empty()) continue;
    absl::StrAppend(&text, "    ca: ", Quoted(context.ca),
                    "\n    cert: ", Quoted(context.certificate),
                    "\n    key: ", Quoted(context.key), "\n");
  }
  return text;
}

}  // namespace skerry::cli
