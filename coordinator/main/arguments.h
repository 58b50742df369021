// coordinator/main/arguments.h
//
// Parses the coordinator's command line into values.
#ifndef SKERRY_COORDINATOR_MAIN_ARGUMENTS_H_
#define SKERRY_COORDINATOR_MAIN_ARGUMENTS_H_

#include <optional>
#include <string>
#include <vector>

#include "coordinator/service/coordinator_server.h"
#include "runtime/log.h"
#include "transport/grpc/credentials.h"

namespace skerry::coordinator {

// docs/coordinator.md lists them.
enum class ExitCode {
  kStopped = 0,
  kUsage = 2,
  kState = 3,
  kJournal = 4,
  kListen = 5,
};

struct Arguments {
  // Its credentials are made of `identity`, by whoever runs it.
  ServerOptions server;
  // None: plaintext.
  std::optional<transport::CredentialFiles> identity;
  std::string state;
  // Empty: none.
  std::string port_file;
  // host:port of the admin server. Empty: none.
  std::string admin;
  // Empty: none.
  std::string admin_port_file;
  runtime::Severity log_level = runtime::Severity::kInfo;
};

struct Parsed {
  // None when there is nothing to run: help was asked for, or the line is
  // wrong.
  std::optional<Arguments> arguments;
  // For standard output (help), or one line for standard error, with the
  // program's name.
  std::string text;
  ExitCode code = ExitCode::kStopped;
};

// `words` without the program's name.
Parsed ParseArguments(std::vector<std::string> words);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_MAIN_ARGUMENTS_H_
