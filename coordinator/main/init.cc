#include "coordinator/main/init.h"

#include <CLI/CLI.hpp>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "coordinator/service/cluster_identity.h"
#include "identity/name.h"
#include "identity/operator_bundle.h"
#include "identity/x509/keys.h"
#include "runtime/command_line/parse_words.h"
#include "transport/address.h"

namespace skerry::coordinator {
namespace {

constexpr char kBundleFile[] = "/admin.yaml";
constexpr char kFirstOperator[] = "admin";
constexpr absl::Duration kOperatorLifetime = absl::Hours(24 * 30);

}  // namespace

ParsedInit ParseInit(std::vector<std::string> words) {
  InitArguments arguments;
  CLI::App app{
      "Makes a cluster: its CA, and a certificate for the coordinator.",
      "skerry-coordinator init"};
  app.add_option("--cluster", arguments.cluster,
                 "name of the cluster; every certificate carries it")
      ->required()
      ->check([](const std::string& name) {
        return std::string(identity::CheckCluster(name).message());
      });
  app.add_option("--state", arguments.state,
                 "folder of the coordinator; made when it is missing")
      ->required();
  app.add_option("--advertise", arguments.advertise,
                 "host:port at which others reach the coordinator")
      ->required()
      ->check([](const std::string& address) {
        return std::string(
            transport::CheckAddress(address, transport::AddressUse::kConnect)
                .message());
      });
  app.add_flag("--if-missing", arguments.if_missing,
               "leave a folder as it is that has this cluster already");
  app.footer("Exit codes: 0 done, 2 usage, 3 the state folder cannot be used.");
  const auto ended = runtime::ParseWords(app, std::move(words));
  if (ended.has_value()) {
    return {.arguments = std::nullopt,
            .text = ended->text,
            .code = static_cast<ExitCode>(ended->exit_code)};
  }
  return {.arguments = std::move(arguments), .text = ""};
}

namespace {

// None when the folder has no cluster yet.
absl::StatusOr<std::optional<std::string>> SayWhatIsThere(
    const InitArguments& wanted, runtime::Files& files) {
  const absl::StatusOr<ClusterIdentity> there =
      ClusterIdentity::Open(wanted.state, files);
  if (absl::IsNotFound(there.status())) return std::nullopt;
  SKERRY_RETURN_IF_ERROR(there.status());
  const ClusterFacts& facts = there->facts();
  if (facts.name != wanted.cluster || facts.address != wanted.advertise) {
    return absl::AlreadyExistsError(absl::StrCat(
        wanted.state, " has the cluster ", facts.name, " at ", facts.address,
        ", not ", wanted.cluster, " at ", wanted.advertise,
        "; name what it has, or another folder"));
  }
  return absl::StrCat("cluster ", facts.name, " is in ", wanted.state,
                      " already\npin of its CA: ", there->pin(), "\n");
}

}  // namespace

absl::StatusOr<std::string> Init(const InitArguments& arguments,
                                 absl::FunctionRef<uint64_t()> draw,
                                 absl::Time now, runtime::Files& files) {
  if (arguments.if_missing) {
    SKERRY_ASSIGN_OR_RETURN(const std::optional<std::string> there,
                            SayWhatIsThere(arguments, files));
    if (there.has_value()) return *there;
  }
  SKERRY_ASSIGN_OR_RETURN(
      ClusterIdentity cluster,
      ClusterIdentity::Make(arguments.state,
                            {arguments.cluster, draw(), arguments.advertise},
                            now, files));
  SKERRY_ASSIGN_OR_RETURN(const identity::PrivateKey key,
                          identity::PrivateKey::Make());
  SKERRY_ASSIGN_OR_RETURN(
      const ClusterIdentity::Issued issued,
      cluster.Issue(
          {arguments.cluster,
           identity::OperatorName{identity::Role::kAdmin, kFirstOperator}},
          key.Public(), kOperatorLifetime, now));
  const std::string bundle = identity::FormatBundle(
      {.address = arguments.advertise,
       .authorities = cluster.authorities(),
       .chain = issued.chain,
       .key = key.Pem()},
      absl::StrCat("Its holder is an admin of the cluster ",
                   arguments.cluster));
  const std::string path = arguments.state + kBundleFile;
  SKERRY_RETURN_IF_ERROR(
      files.WriteDurably(path, std::as_bytes(std::span(bundle))));
  SKERRY_RETURN_IF_ERROR(cluster.Finish());
  return absl::StrCat("cluster ", arguments.cluster, " is made in ",
                      arguments.state, "\npin of its CA: ", cluster.pin(),
                      "\nfor the first operator, for 30 days: skerryctl config "
                      "import ",
                      path, "\n");
}

}  // namespace skerry::coordinator
