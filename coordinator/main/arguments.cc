#include "coordinator/main/arguments.h"

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "base/bounded_number.h"
#include "base/release.h"
#include "runtime/command_line/number_option.h"
#include "runtime/command_line/parse_words.h"
#include "runtime/command_line/word_option.h"
#include "runtime/log_level.h"
#include "transport/grpc/identity_flags.h"
#include "transport/loopback.h"

namespace skerry::coordinator {
namespace {

constexpr char kFooter[] =
    "Times are written as 10s, 500ms or 1m30s.\n"
    "Exit codes: 0 stopped by SIGTERM or SIGINT, 2 usage, 3 the state folder\n"
    "cannot be used, 4 the journal could not be written, 5 the address cannot\n"
    "be listened on.";

// More workers, jobs or events than any coordinator holds.
constexpr size_t kCountMax = 1'000'000'000;

bool ReadDuration(const std::string& text, absl::Duration* value) {
  return absl::ParseDuration(text, value) && *value > absl::ZeroDuration() &&
         *value < absl::InfiniteDuration();
}

// A flag that takes a duration above zero.
void AddDuration(CLI::App& app, const std::string& name,
                 const std::string& about, absl::Duration* value) {
  const auto problem = [](const std::string& text) {
    absl::Duration parsed;
    return ReadDuration(text, &parsed)
               ? std::string()
               : "has to be a time above zero, like 10s, not " + text;
  };
  app.add_option_function<std::string>(
         name, [value](const std::string& text) { ReadDuration(text, value); },
         about)
      ->check(CLI::Validator(problem, "TIME"))
      ->type_name("")
      ->default_str(absl::FormatDuration(*value));
}

// "vision=2"; false when it is not of that form.
bool ReadQuota(const std::string& text, ClusterOptions* cluster) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return false;
  const auto jobs = ReadNumber<size_t>(text.substr(equals + 1), {1, kCountMax});
  if (!jobs.ok()) return false;
  cluster->quotas[text.substr(0, equals)] = *jobs;
  return true;
}

void AddQuota(CLI::App& app, ClusterOptions& cluster) {
  app.add_option_function<std::vector<std::string>>(
         "--quota",
         [&cluster](const std::vector<std::string>& quotas) {
           for (const std::string& quota : quotas) ReadQuota(quota, &cluster);
         },
         "OWNER=JOBS: how many jobs of the owner work at a time; the owner * "
         "stands for each that has no quota of its own; may be repeated")
      ->check(CLI::Validator(
          [](const std::string& text) {
            ClusterOptions unused;
            return ReadQuota(text, &unused)
                       ? std::string()
                       : "has to be OWNER=JOBS, like vision=2, not " + text;
          },
          ""))
      ->type_name("OWNER=JOBS")
      ->allow_extra_args(false);
}

// What ParseArguments makes more of.
struct RawFlags {
  transport::IdentityFlags identity;
  bool admin_plaintext = false;
};

void AddFlags(CLI::App& app, Arguments* arguments, RawFlags* flags) {
  app.set_version_flag("--version",
                       std::string("skerry-coordinator ") + kRelease);
  ServerOptions& server = arguments->server;
  app.add_option("--listen", server.listen,
                 "host:port; one that other machines reach takes an identity; "
                 "port 0 takes a free one")
      ->capture_default_str();
  app.add_option("--state", arguments->state,
                 "folder of the journal; made when it is missing")
      ->required();
  flags->identity.AddTo(app);
  app.add_option("--port-file", arguments->port_file,
                 "file that gets the port once it is open");
  app.add_option("--admin", arguments->admin,
                 "host:port on this machine for /metrics, /healthz and "
                 "/readyz; port 0 takes a free one");
  app.add_flag("--admin-plaintext", flags->admin_plaintext,
               "let other machines reach --admin, without TLS: it tells and "
               "changes nothing")
      ->needs("--admin");
  app.add_option("--admin-port-file", arguments->admin_port_file,
                 "file that gets the admin port once it is open")
      ->needs("--admin");
  runtime::AddWord(app, "--log-level", arguments->log_level,
                   runtime::LogLevels(), runtime::kLogLevelHelp)
      ->type_name("LEVEL")
      ->default_str("info");
  app.add_flag("--reflection", server.reflection,
               "tell gRPC tools what the services are");
  ClusterOptions& cluster = server.cluster;
  AddDuration(app, "--lease",
              "silence after which a worker's place is given away",
              &cluster.lease);
  AddDuration(app, "--settle",
              "how long an island waits for a worker that went away",
              &cluster.settle);
  AddDuration(app, "--restore-wait",
              "how long a lost disk has to come back before a job goes back "
              "to a checkpoint",
              &cluster.restore_wait);
  AddDuration(app, "--attempt-deadline-min", "shortest deadline of an exchange",
              &cluster.attempt_deadline_min);
  const auto count = [&app](const char* name, size_t& value,
                            const char* about) {
    runtime::AddNumber(app, name, value, {1, kCountMax}, about)
        ->capture_default_str();
  };
  count("--workers-max", cluster.workers_max, "workers that may be registered");
  count("--jobs-max", cluster.jobs_max, "jobs that may be unfinished");
  count("--events-max", server.operators.events.events_max,
        "events that skerryctl logs can show, the newest");
  count("--jobs-per-worker", cluster.seats_max,
        "jobs that share a worker; others wait");
  AddQuota(app, cluster);
  app.footer(kFooter);
}

Parsed Ended(const runtime::EndedLine& ended) {
  return {.arguments = std::nullopt,
          .text = ended.text,
          .code = static_cast<ExitCode>(ended.exit_code)};
}

}  // namespace

Parsed ParseArguments(std::vector<std::string> words) {
  Arguments arguments;
  CLI::App app{"Decides who trains what, and keeps the history of it.",
               "skerry-coordinator"};
  RawFlags flags;
  AddFlags(app, &arguments, &flags);
  const auto ended = runtime::ParseWords(app, std::move(words));
  if (ended.has_value()) return Ended(*ended);
  arguments.identity = flags.identity.Choose(arguments.state);
  absl::Status good = transport::CheckListen(arguments.server.listen,
                                             arguments.identity.has_value());
  if (good.ok() && !arguments.admin.empty()) {
    good = transport::CheckListen(arguments.admin, flags.admin_plaintext);
  }
  if (good.ok()) good = ValidateClusterOptions(arguments.server.cluster);
  if (!good.ok())
    return Ended(runtime::WrongLine(app, std::string(good.message())));
  return {.arguments = std::move(arguments), .text = ""};
}

}  // namespace skerry::coordinator
