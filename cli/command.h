// cli/command.h
//
// What a command of skerryctl is: a row of cli/command_table.h, which the
// command's own file defines. A row names the command, adds its options to the
// command line, and runs it.
#ifndef SKERRY_CLI_COMMAND_H_
#define SKERRY_CLI_COMMAND_H_

#include <any>
#include <functional>
#include <string>
#include <type_traits>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/client.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/output_forms.h"
#include "runtime/files.h"

namespace CLI {
class App;
}  // namespace CLI

namespace skerry::cli {

// What the line says to skerryctl itself.
struct SharedArguments {
  // host:port; the flag, else SKERRY_COORDINATOR, else the default.
  std::string coordinator = "127.0.0.1:7443";
  // If the line or the environment names the coordinator, no context replaces
  // it.
  enum class Origin { kDefault, kEnvironment, kLine };
  Origin coordinator_origin = Origin::kDefault;
  // --context, which wins over SKERRY_COORDINATOR.
  std::string context;
  OutputForm form = OutputForm::kTable;
  // "NAME:spec.name,LOSS:losses.training_loss", for OutputForm::kColumns.
  std::string columns;
};

using RunHere = std::function<absl::StatusOr<ExitCode>(
    const std::any& arguments, runtime::Files& files, const Output& output)>;
using RunOnCluster = std::function<absl::StatusOr<ExitCode>(
    const std::any& arguments, Client& client, runtime::Files& files,
    const Output& output)>;

struct Command {
  // "get jobs": a word, or the word of a group and one of its own.
  std::string words;
  std::string about;
  Prints prints = Prints::kAnswer;
  // Fills `arguments` with defaults, and adds options whose values go there. It
  // stays where it is until the line is parsed.
  std::function<void(CLI::App& app, std::any& arguments)> add_options;
  // Returns what is wrong with the words together, or nothing.
  std::function<std::string(std::any& arguments, const SharedArguments&)>
      finish;
  // Without a coordinator, or with one.
  std::variant<RunHere, RunOnCluster> run;
};

struct NoArguments {};

// A command as its file writes it down, with arguments of its own type.
template <typename Arguments>
struct CommandOf {
  const char* words;
  const char* about;
  Prints prints = Prints::kAnswer;
  void (*add_options)(CLI::App& app, Arguments& arguments) = nullptr;
  std::string (*finish)(Arguments& arguments, const SharedArguments&) = nullptr;
  // Each takes what it needs. The exit code is kOk unless the command tells it.
  std::variant<
      absl::Status (*)(const Arguments&, const Output&),
      absl::Status (*)(const Arguments&, runtime::Files&, const Output&),
      absl::Status (*)(const Arguments&, Client&, const Output&),
      absl::Status (*)(const Arguments&, Client&, runtime::Files&,
                       const Output&),
      absl::StatusOr<ExitCode> (*)(const Arguments&, Client&, const Output&)>
      run;
};

inline absl::StatusOr<ExitCode> AsExitCode(absl::StatusOr<ExitCode> code) {
  return code;
}
inline absl::StatusOr<ExitCode> AsExitCode(absl::Status status) {
  if (status.ok()) return ExitCode::kOk;
  return status;
}

// `run` as the table has it.
template <typename Arguments, typename Run>
std::variant<RunHere, RunOnCluster> ErasedRun(Run run) {
  const auto typed = [](const std::any& arguments) -> const Arguments& {
    return *std::any_cast<Arguments>(&arguments);
  };
  if constexpr (std::is_invocable_v<Run, const Arguments&, const Output&>) {
    return RunHere(
        [=](const std::any& arguments, runtime::Files&, const Output& output) {
          return AsExitCode(run(typed(arguments), output));
        });
  } else if constexpr (std::is_invocable_v<Run, const Arguments&,
                                           runtime::Files&, const Output&>) {
    return RunHere([=](const std::any& arguments, runtime::Files& files,
                       const Output& output) {
      return AsExitCode(run(typed(arguments), files, output));
    });
  } else if constexpr (std::is_invocable_v<Run, const Arguments&, Client&,
                                           const Output&>) {
    return RunOnCluster([=](const std::any& arguments, Client& client,
                            runtime::Files&, const Output& output) {
      return AsExitCode(run(typed(arguments), client, output));
    });
  } else {
    return RunOnCluster([=](const std::any& arguments, Client& client,
                            runtime::Files& files, const Output& output) {
      return AsExitCode(run(typed(arguments), client, files, output));
    });
  }
}

// The row of a command.
template <typename Arguments>
Command MakeCommand(const CommandOf<Arguments>& of) {
  return {.words = of.words,
          .about = of.about,
          .prints = of.prints,
          .add_options =
              [add = of.add_options](CLI::App& app, std::any& arguments) {
                Arguments& made = arguments.emplace<Arguments>();
                if (add != nullptr) add(app, made);
              },
          .finish =
              [finish = of.finish](std::any& arguments,
                                   const SharedArguments& shared) {
                return finish == nullptr
                           ? std::string()
                           : finish(*std::any_cast<Arguments>(&arguments),
                                    shared);
              },
          .run = std::visit([](auto run) { return ErasedRun<Arguments>(run); },
                            of.run)};
}

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMAND_H_
