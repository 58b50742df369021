#include "cli/commands/config_import.h"

#include <CLI/CLI.hpp>
#include <cstddef>
#include <filesystem>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "cli/bundle_file.h"
#include "cli/read_file.h"
#include "identity/x509/identity_folder.h"
#include "runtime/posix/machine.h"
#include "runtime/posix/posix_files.h"
#include "transport/address.h"

namespace skerry::cli {
namespace {

constexpr size_t kBundleBytesMax = 256 << 10;

struct ImportArguments {
  std::string file;
  std::string name;
};

absl::Status Import(const ImportArguments& wanted, runtime::Files&,
                    const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const std::string text,
                          ReadFile(wanted.file, kBundleBytesMax));
  SKERRY_ASSIGN_OR_RETURN(const std::string config_path, ConfigPath());
  // What it writes is for its owner alone.
  runtime::PosixFiles files;
  SKERRY_ASSIGN_OR_RETURN(
      const Context context,
      ImportBundle(wanted.file, text, wanted.name, config_path,
                   absl::FromUnixMillis(runtime::UnixMs()), files));
  output.err << "skerryctl speaks to " << context.coordinator << " as context "
             << context.name << "; " << wanted.file
             << " is not needed any more\n";
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Context> ImportBundle(const std::string& path,
                                     const std::string& text,
                                     const std::string& name,
                                     const std::string& config_path,
                                     absl::Time now, runtime::Files& files) {
  SKERRY_ASSIGN_OR_RETURN(const identity::OperatorBundle bundle,
                          ParseBundle(path, text));
  const auto wrong = [&path](const absl::Status& why) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", why.message()));
  };
  const absl::Status reachable =
      transport::CheckAddress(bundle.address, transport::AddressUse::kConnect);
  if (!reachable.ok()) return wrong(reachable);
  const identity::Identity given{bundle.authorities, bundle.chain, bundle.key};
  const auto checked = identity::CheckIdentity(given, now);
  if (!checked.ok()) return wrong(checked.status());
  if (!std::holds_alternative<identity::OperatorName>(checked->name.who)) {
    return wrong(absl::InvalidArgumentError(
        "its certificate is not that of an operator"));
  }
  Context context;
  context.name = name.empty() ? checked->name.cluster : name;
  context.coordinator = bundle.address;
  SKERRY_RETURN_IF_ERROR(identity::CheckWord("--name", context.name));
  const std::string folder = (std::filesystem::path(config_path).parent_path() /
                              "identities" / context.name)
                                 .string();
  context.ca = folder + identity::kAuthoritiesFile;
  context.certificate = folder + identity::kChainFile;
  context.key = folder + identity::kKeyFile;
  SKERRY_RETURN_IF_ERROR(identity::WriteIdentity(folder, given, files));
  SKERRY_ASSIGN_OR_RETURN(Config config, ReadConfig(config_path, files));
  config.Set(context);
  config.current = context.name;
  SKERRY_RETURN_IF_ERROR(WriteConfig(config_path, config, files));
  return context;
}

Command ImportConfigCommand() {
  return MakeCommand<ImportArguments>(
      {.words = "config import",
       .about = "makes a context of an operator's bundle the current one",
       .prints = Prints::kText,
       .add_options =
           +[](CLI::App& app, ImportArguments& wanted) {
             app.add_option("FILE", wanted.file, "the bundle")->required();
             app.add_option("--name", wanted.name,
                            "name of the context; default: the cluster's");
           },
       .run = Import});
}

}  // namespace skerry::cli
