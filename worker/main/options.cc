#include "worker/main/options.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdlib>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/release.h"
#include "base/status.h"
#include "identity/x509/certificate.h"
#include "identity/x509/identity_folder.h"
#include "runtime/command_line/number_option.h"
#include "runtime/command_line/parse_words.h"
#include "runtime/command_line/word_option.h"
#include "runtime/log_level.h"
#include "transport/address.h"
#include "transport/grpc/identity_flags.h"
#include "transport/host.h"
#include "transport/loopback.h"

namespace skerry::worker {
namespace {

std::string CheckName(const std::string& name) {
  if (name.starts_with('-')) {
    return "begin with a letter or a digit: commands take a dash for an option";
  }
  for (const char c : name) {
    if (!absl::ascii_isalnum(c) && c != '-' && c != '_' && c != '.') {
      return "use letters, digits, '-', '_' and '.' only";
    }
  }
  return name.empty() || name.size() > 40 ? "1 to 40 characters" : "";
}

// The token that systemd passes to a service as its credential `join-token`.
std::string TokenOfService() {
  const char* folder = std::getenv("CREDENTIALS_DIRECTORY");
  return folder == nullptr ? "" : absl::StrCat(folder, "/join-token");
}

std::string CheckPeer(const std::string& address) {
  return std::string(
      transport::CheckAddress(address, transport::AddressUse::kConnect)
          .message());
}

std::string CheckHost(const std::string& host) {
  return std::string(transport::CheckHost(host).message());
}

// What a coordinator takes.
constexpr size_t kAddressesMax = 8;

// Where the worker listens and connects, and who it is there.
struct Network {
  transport::IdentityFlags identity;
  bool admin_plaintext = false;

  void AddTo(CLI::App& app, CommandLine& line) {
    app.add_option("--coordinator", line.coordinator, "Its host:port")
        ->required()
        ->check(CheckPeer);
    app.add_option("--listen", line.listen,
                   "host:port for other workers; one that other machines reach "
                   "takes an identity; port 0 takes a free one")
        ->default_val("127.0.0.1:0");
    app.add_option("--advertise", line.advertise,
                   "host:port at which other islands reach this worker; may "
                   "be repeated, the preferred one first; default: where it "
                   "listens")
        ->type_name("HOST:PORT")
        ->allow_extra_args(false)
        ->check(CheckPeer);
    app.add_option("--island-address", line.island_address,
                   "Host name or IP address at which trainers of its island "
                   "on other hosts reach its trainer, which takes any free "
                   "port; default: the host at which workers of its island "
                   "reach it, and with --outbound-only none")
        ->type_name("HOST")
        ->check(CheckHost);
    app.add_flag("--shared-memory-only", line.shared_memory_only,
                 "Its trainer meets those on this host only: of an island on "
                 "several hosts, the workers of one host train. Give it to all "
                 "workers of an island, or to none")
        ->excludes("--island-address");
    app.add_flag("--outbound-only", line.outbound_only,
                 "Nobody of another island can connect to this worker: it "
                 "opens the connections to them");
    app.add_flag("--relay", line.relay,
                 "Pass on what workers with --outbound-only send each other; "
                 "those of other islands have to be able to connect to this "
                 "worker")
        ->excludes("--outbound-only");
    identity.AddTo(app);
    AddJoining(app, line);
    app.add_option("--admin", line.admin,
                   "host:port on this machine for /metrics, /healthz and "
                   "/readyz; port 0 takes a free one");
    app.add_flag("--admin-plaintext", admin_plaintext,
                 "Let other machines reach --admin, without TLS: it tells and "
                 "changes nothing")
        ->needs("--admin");
    app.add_option("--admin-port-file", line.admin_port_file,
                   "Write the admin port to this file")
        ->needs("--admin");
  }
  void AddJoining(CLI::App& app, CommandLine& line) {
    CLI::Option* const pin = app.add_option(
        "--ca-pin", line.ca_pin,
        "sha256:HEX of the cluster's CA, as skerryctl token create prints it");
    pin->check([](const std::string& text) {
      return std::string(skerry::identity::CheckPin(text).message());
    });
    app.add_option("--join-token-file", line.join_token_file,
                   "File with the token that lets this worker join; needed "
                   "until it has its certificate; default: the credential "
                   "join-token that systemd passes, if there is one")
        ->type_name("FILE")
        ->needs(pin);
    pin->excludes("--cert")->excludes("--identity");
  }
  // Errors: InvalidArgument, an address that takes an identity, or at which
  // nobody could reach the worker; a pin without a token.
  absl::Status WriteTo(CommandLine& line) const {
    if (!line.ca_pin.empty() && line.join_token_file.empty()) {
      line.join_token_file = TokenOfService();
      if (line.join_token_file.empty()) {
        return absl::InvalidArgumentError("--ca-pin needs --join-token-file");
      }
    }
    line.identity = line.join_token_file.empty()
                        ? identity.Choose(line.state_directory)
                        : transport::FilesIn(line.state_directory +
                                             skerry::identity::kIdentityFolder);
    const bool with_tls = line.identity.has_value();
    SKERRY_RETURN_IF_ERROR(
        Annotate(transport::CheckListen(line.listen, with_tls), "--listen"));
    if (!line.admin.empty()) {
      SKERRY_RETURN_IF_ERROR(Annotate(
          transport::CheckListen(line.admin, admin_plaintext), "--admin"));
    }
    if (!with_tls) {
      SKERRY_RETURN_IF_ERROR(Annotate(
          transport::RequireLoopback(line.coordinator), "--coordinator"));
    }
    if (line.advertise.size() > kAddressesMax) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--advertise: give at most ", kAddressesMax, " addresses"));
    }
    if (!line.advertise.empty() || !transport::IsWildcard(line.listen) ||
        line.outbound_only) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "--advertise: is needed, since nobody can connect to ", line.listen,
        "; where nobody can connect anyway, give --outbound-only"));
  }
};

void AddLogLevel(CLI::App& app, CommandLine& line) {
  runtime::AddWord(app, "--log-level", line.log_level, runtime::LogLevels(),
                   runtime::kLogLevelHelp)
      ->type_name("LEVEL")
      ->default_str("info");
}

// What this machine's cloud says about its end.
struct Preemption {
  std::vector<std::string> sources;
  double lead_s = 120;

  void AddTo(CLI::App& app, CommandLine& line) {
    CLI::Option* source =
        app.add_option("--preemption-notice", sources,
                       "Where notices that this machine will be taken away "
                       "come from: aws, gcp, azure or file:PATH; may be "
                       "repeated")
            ->type_name("SOURCE")
            ->allow_extra_args(false)
            ->check([](const std::string& text) {
              return std::string(ReadNoticeSource(text).status().message());
            });
    app.add_option("--metadata-endpoint", line.metadata_endpoint,
                   "URL of the cloud's metadata service")
        ->type_name("URL")
        ->capture_default_str()
        ->needs(source)
        ->check([](const std::string& url) {
          return std::string(CheckMetadataEndpoint(url).message());
        });
    runtime::AddNumber(app, "--preemption-lead-s", lead_s, {0, 86400},
                       "Seconds before the end that a notice names at which "
                       "draining begins; at once when fewer are left")
        ->capture_default_str()
        ->needs(source);
  }
  void WriteTo(CommandLine& line) const {
    line.preemption_lead = absl::Seconds(lead_s);
    for (const std::string& source : std::set(sources.begin(), sources.end())) {
      if (auto spec = ReadNoticeSource(source); spec.ok()) {
        line.notice_sources.push_back(*std::move(spec));
      }
    }
  }
};

// What becomes of jobs that have ended.
struct Ended {
  double idle_s = 60;
  double keep_h = absl::ToDoubleHours(EndedRetention().age);
  double keep_gib =
      std::ldexp(static_cast<double>(EndedRetention().bytes), -30);

  void AddTo(CLI::App& app) {
    runtime::AddNumber(app, "--ended-idle-s", idle_s, {0.1, 86400},
                       "Seconds for which a job that has ended keeps its "
                       "memory, and the trainer that `generate` started, "
                       "without use")
        ->capture_default_str();
    runtime::AddNumber(app, "--keep-ended-h", keep_h, {0, 1e6},
                       "Hours for which the state of a job that has ended "
                       "stays on the disk")
        ->capture_default_str();
    runtime::AddNumber(app, "--keep-ended-gib", keep_gib, {0, 1e6},
                       "GiB that the states of all jobs that have ended may "
                       "take; the oldest go first")
        ->capture_default_str();
  }
  EndedRetention Retention() const {
    return {absl::Hours(keep_h),
            static_cast<uint64_t>(std::ldexp(keep_gib, 30))};
  }
};

// Data sets that lie in object stores.
struct DataSets {
  double cache_gib = std::ldexp(static_cast<double>(kDataCacheBytes), -30);

  void AddTo(CLI::App& app) {
    runtime::AddNumber(app, "--data-cache-gib", cache_gib, {0, 1e6},
                       "GiB that fetched data sets may take in the folder of "
                       "--state; those used longest ago go first")
        ->capture_default_str();
  }
  uint64_t Bytes() const {
    return static_cast<uint64_t>(std::ldexp(cache_gib, 30));
  }
};

}  // namespace

ParsedCommandLine ParseCommandLine(int argc, char** argv) {
  ParsedCommandLine parsed;
  CommandLine& line = parsed.command_line;
  double drain_timeout_s = 25;
  Ended ended;
  DataSets data_sets;
  CLI::App app(
      "Does a worker's part in training: holds spans of the model, "
      "exchanges them with other islands, runs a trainer.",
      "skerry-worker");
  app.set_version_flag("--version", std::string(kRelease));
  app.add_option("--name", line.name, "A name that is unique in the cluster")
      ->required()
      ->check(CheckName);
  app.add_option(
         "--island", line.island,
         "Label of the place: workers with the same one reach each other "
         "over fast links")
      ->required()
      ->check(CheckName);
  Network network;
  network.AddTo(app, line);
  app.add_option("--state", line.state_directory,
                 "Folder of this worker alone, for bases and results; made "
                 "when it is missing, kept over restarts")
      ->required();
  app.add_option("--run-dir", line.run_directory,
                 "Folder for the trainer's socket; default: that of --state");
  AddTrainers(app, argv[0], line.trainers);
  runtime::AddNumber(app, "--codec-threads", line.codec_threads, {1, 256},
                     "Threads that encode, sum and decode; default: a quarter "
                     "of the processors, at most 8");
  runtime::AddNumber(app, "--drain-timeout-s", drain_timeout_s, {0, 3600},
                     "After SIGTERM: seconds to wait to be released")
      ->capture_default_str();
  Preemption preemption;
  preemption.AddTo(app, line);
  ended.AddTo(app);
  data_sets.AddTo(app);
  app.add_option("--port-file", line.port_file,
                 "Write the port listened on to this file");
  AddLogLevel(app, line);
  if (const auto parsed_end = runtime::ParseOrPrint(app, argc, argv)) {
    parsed.exit = true;
    parsed.exit_code = *parsed_end;
    return parsed;
  }
  const absl::Status fine = network.WriteTo(line);
  if (!fine.ok()) {
    parsed.exit = true;
    parsed.exit_code = runtime::PrintEnded(
        runtime::WrongLine(app, std::string(fine.message())));
    return parsed;
  }
  if (line.run_directory.empty()) line.run_directory = line.state_directory;
  line.drain_timeout = absl::Seconds(drain_timeout_s);
  preemption.WriteTo(line);
  line.ended_idle = absl::Seconds(ended.idle_s);
  line.retention = ended.Retention();
  line.data_cache_bytes = data_sets.Bytes();
  return parsed;
}

}  // namespace skerry::worker
