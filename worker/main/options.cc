#include "worker/main/options.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <iostream>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/release.h"
#include "runtime/log_level.h"
#include "transport/loopback.h"

namespace skerry::worker {
namespace {

constexpr int kUsageExit = 2;

std::string CheckName(const std::string& name) {
  for (const char c : name) {
    if (!absl::ascii_isalnum(c) && c != '-' && c != '_' && c != '.') {
      return "use letters, digits, '-', '_' and '.' only";
    }
  }
  return name.empty() || name.size() > 40 ? "1 to 40 characters" : "";
}

std::string CheckListen(const std::string& address) {
  const absl::Status status = transport::RequireLoopback(address);
  return status.ok() ? "" : std::string(status.message());
}

// The trainer that was installed beside this program.
std::string TrainerBeside(const char* program) {
  std::error_code error;
  std::filesystem::path self =
      std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) self = program;
  return (self.parent_path() / "skerry-trainer").string();
}

void AddAdmin(CLI::App& app, CommandLine& line) {
  app.add_option("--admin", line.admin,
                 "host:port on this machine for /metrics, /healthz and "
                 "/readyz; port 0 takes a free one")
      ->check(CheckListen);
  app.add_option("--admin-port-file", line.admin_port_file,
                 "Write the admin port to this file")
      ->needs("--admin");
  app.add_option("--log-level", line.log_level, runtime::kLogLevelHelp)
      ->transform(CLI::CheckedTransformer(runtime::LogLevels()))
      ->default_str("info");
}

// What becomes of jobs that have ended.
struct Ended {
  double idle_s = 60;
  double keep_h = absl::ToDoubleHours(EndedRetention().age);
  double keep_gib =
      std::ldexp(static_cast<double>(EndedRetention().bytes), -30);

  void AddTo(CLI::App& app) {
    app.add_option("--ended-idle-s", idle_s,
                   "How long a job that has ended keeps its memory, and the "
                   "trainer that `generate` started, without use")
        ->check(CLI::Range(0.1, 86400.0))
        ->capture_default_str();
    app.add_option("--keep-ended-h", keep_h,
                   "Hours for which the state of a job that has ended stays on "
                   "the disk")
        ->check(CLI::Range(0.0, 1e6))
        ->capture_default_str();
    app.add_option("--keep-ended-gib", keep_gib,
                   "GiB that the states of all jobs that have ended may take; "
                   "the oldest go first")
        ->check(CLI::Range(0.0, 1e6))
        ->capture_default_str();
  }
  EndedRetention Retention() const {
    return {absl::Hours(keep_h),
            static_cast<uint64_t>(std::ldexp(keep_gib, 30))};
  }
};

}  // namespace

ParsedCommandLine ParseCommandLine(int argc, char** argv) {
  ParsedCommandLine parsed;
  CommandLine& line = parsed.command_line;
  line.trainer = TrainerBeside(argv[0]);
  double drain_timeout_s = 25;
  Ended ended;
  CLI::App app(
      "Does a worker's part in training: holds spans of the model, "
      "exchanges them with other islands, runs a trainer.",
      "skerry-worker");
  app.set_version_flag("--version", std::string(kRelease));
  app.add_option("--name", line.name, "Unique in the cluster")
      ->required()
      ->check(CheckName);
  app.add_option("--island", line.island,
                 "Workers with the same label have fast links between them")
      ->required()
      ->check(CheckName);
  app.add_option("--coordinator", line.coordinator, "host:port")->required();
  app.add_option("--listen", line.listen,
                 "host:port for other workers; port 0 takes a free one")
      ->default_val("127.0.0.1:0")
      ->check(CheckListen);
  app.add_option("--advertise", line.advertise,
                 "host:port at which other islands reach this worker; "
                 "default: where it listens");
  app.add_option("--state", line.state_directory,
                 "Folder for bases and results; survives restarts")
      ->required();
  app.add_option("--run-dir", line.run_directory,
                 "Folder for the trainer's socket; default: that of --state");
  app.add_option("--trainer", line.trainer, "Program that trains")
      ->capture_default_str();
  app.add_option("--trainer-threads", line.trainer_threads,
                 "Compute threads of the trainer")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--codec-threads", line.codec_threads,
                 "Threads that encode, sum and decode")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option("--drain-timeout-s", drain_timeout_s,
                 "After SIGTERM: how long to wait to be released")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  ended.AddTo(app);
  app.add_option("--port-file", line.port_file,
                 "Write the port listened on to this file");
  AddAdmin(app, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& call) {
    parsed.exit = true;
    app.exit(call);
  } catch (const CLI::CallForVersion& call) {
    parsed.exit = true;
    app.exit(call);
  } catch (const CLI::ParseError& error) {
    std::cerr << "skerry-worker: " << error.what() << "; see --help\n";
    parsed.exit = true;
    parsed.exit_code = kUsageExit;
  }
  if (line.run_directory.empty()) line.run_directory = line.state_directory;
  line.drain_timeout = absl::Seconds(drain_timeout_s);
  line.ended_idle = absl::Seconds(ended.idle_s);
  line.retention = ended.Retention();
  return parsed;
}

}  // namespace skerry::worker
