// cli/config_file.h
//
// The clusters that an operator has named: $XDG_CONFIG_HOME/skerry/config.yaml,
// else ~/.config/skerry/config.yaml.
//
//   current: lab
//   contexts:
//     - name: lab
//       coordinator: 127.0.0.1:7443
//     - name: field
//       coordinator: train.example.org:7443
//       ca: /home/a/field/ca.pem
//       cert: /home/a/field/cert.pem
//       key: /home/a/field/key.pem
#ifndef SKERRY_CLI_CONFIG_FILE_H_
#define SKERRY_CLI_CONFIG_FILE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/files.h"

namespace skerry::cli {

struct Context {
  std::string name;
  // host:port
  std::string coordinator;
  // PEM files of the operator's identity: all three, or none for plaintext.
  std::string ca = {};
  std::string certificate = {};
  std::string key = {};
  friend bool operator==(const Context&, const Context&) = default;
};

struct Config {
  // Empty: none is chosen.
  std::string current;
  std::vector<Context> contexts;  // by name
  friend bool operator==(const Config&, const Config&) = default;

  // Errors: NotFound, with the nearest name that there is.
  absl::StatusOr<Context> Find(const std::string& name) const;
  // Adds the context or replaces the one of its name.
  void Set(Context context);
  // Also forgets that it is the current one. Errors: NotFound.
  absl::Status Remove(const std::string& name);
};

// Returns the path that the environment gives. Errors: FailedPrecondition when
// it names no home.
absl::StatusOr<std::string> ConfigPath();

// Reads the file; without one, the result is empty. Errors: InvalidArgument
// with file, line and column; those of reading.
absl::StatusOr<Config> ReadConfig(const std::string& path,
                                  const runtime::Files& files);
// Replaces the file. Errors: those of the disk.
absl::Status WriteConfig(const std::string& path, const Config& config,
                         runtime::Files& files);

std::string ConfigText(const Config& config);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_CONFIG_FILE_H_
