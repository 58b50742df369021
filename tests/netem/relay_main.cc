// The link emulator as a program. Prints the addresses it listens on as one
// JSON line, then answers commands from standard input until it ends.

#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "runtime/command_line/number_option.h"
#include "runtime/command_line/parse_words.h"
#include "tests/netem/config.h"
#include "tests/netem/relay.h"

namespace skerry::netem {
namespace {

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "relay: %s\n", std::string(status.message()).c_str());
  return 1;
}

int Main(int argc, char** argv) {
  CLI::App app("Emulates wide-area links between processes of one machine.",
               "relay");
  std::string config_path;
  std::string control_path;
  RelayConfig config;
  LinkConfig link{.name = "link"};
  double mbit = 0;
  double rtt_ms = 0;
  app.add_option("--config", config_path, "JSON file, see config.h");
  app.add_option("--control", control_path, "Unix socket for commands");
  app.add_option("--target", link.target, "One link to this address");
  app.add_option("--listen", link.listen, "Where that link listens");
  runtime::AddNumber(app, "--mbit", mbit, {0, 1e6},
                     "Its rate each way; 0 is unlimited");
  runtime::AddNumber(app, "--rtt-ms", rtt_ms, {0, 600'000},
                     "Its round trip, half each way");
  runtime::AddNumber(app, "--seed", config.seed, {}, "Of jitter and stalls");
  if (const auto ended = runtime::ParseOrPrint(app, argc, argv)) return *ended;
  if (config_path.empty() == link.target.empty()) {
    return Fail(absl::InvalidArgumentError("give --config or --target"));
  }
  if (!config_path.empty()) {
    std::ifstream file(config_path);
    std::stringstream text;
    text << file.rdbuf();
    absl::StatusOr<RelayConfig> parsed = ParseRelayConfig(text.str());
    if (!file || !parsed.ok()) {
      return Fail(parsed.ok()
                      ? absl::NotFoundError("cannot read " + config_path)
                      : parsed.status());
    }
    config = *std::move(parsed);
  } else {
    link.mbit = {mbit, mbit};
    for (PathOptions& path : link.path) {
      path.delay = absl::Milliseconds(rtt_ms / 2);
    }
    config.links = {link};
  }
  signal(SIGPIPE, SIG_IGN);
  const auto relay = Relay::Listen(config);
  if (!relay.ok()) return Fail(relay.status());
  if (!control_path.empty()) {
    const absl::Status status = (*relay)->ListenForControls(control_path);
    if (!status.ok()) return Fail(status);
  }
  std::printf("%s\n", (*relay)->AddressesJson().c_str());
  std::fflush(stdout);
  (*relay)->AddControl(STDIN_FILENO, STDOUT_FILENO, true);
  (*relay)->Run();
  return 0;
}

}  // namespace
}  // namespace skerry::netem

int main(int argc, char** argv) { return skerry::netem::Main(argc, argv); }
