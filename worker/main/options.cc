#include "worker/main/options.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/release.h"
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
}

}  // namespace

ParsedCommandLine ParseCommandLine(int argc, char** argv) {
  ParsedCommandLine parsed;
  CommandLine& line = parsed.command_line;
  line.trainer = TrainerBeside(argv[0]);
  double drain_timeout_s = 25;
  CLI::App app(
      "Does a worker's part in training: holds spans of the model, "
      "exchanges them with other islands, runs a trainer.",
      "skerry-worker");
  app.set_version_flag("--version", std::string(kRelease));
  app.add_option("--name", line.name, "A name that is unique in the cluster")
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
                 "Folder of this worker alone, for bases and results; made "
                 "when it is missing, kept over restarts")
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
  app.add_option("--port-file", line.port_file,
                 "Write the port listened on to this file");
  AddAdmin(app, line);
  app.add_flag("--debug", line.debug, "Log debug events too");
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
  return parsed;
}

}  // namespace skerry::worker
