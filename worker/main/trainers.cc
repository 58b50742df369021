#include "worker/main/trainers.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <set>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "job/limits.h"
#include "job/text_forms.h"
#include "runtime/command_line/number_option.h"
#include "runtime/log_level.h"

namespace skerry::worker {
namespace {

// The program that was installed beside this one.
std::string Beside(const char* program, const char* name) {
  std::error_code error;
  std::filesystem::path self =
      std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) self = program;
  return (self.parent_path() / name).string();
}

absl::StatusOr<AllowedProgram> ReadProgram(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat(text, " is not NAME=FILE, such as resnet=/jobs/train.py"));
  }
  AllowedProgram program{text.substr(0, equals), text.substr(equals + 1)};
  if (!job::IsLabel(program.name, "") || program.name.starts_with('-')) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the name in ", text, " has to be 1 to ", job::kLabelBytesMax,
        " lower-case letters, digits and dashes, the first no dash"));
  }
  std::error_code error;
  if (!std::filesystem::is_regular_file(program.file, error)) {
    return absl::InvalidArgumentError(
        absl::StrCat(program.file, " is not there, or is no file"));
  }
  if (access(program.file.c_str(), R_OK) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(program.file, " cannot be read by this user"));
  }
  // It is started from another folder.
  program.file = std::filesystem::absolute(program.file, error).string();
  return program;
}

void AddPrograms(CLI::App& app, Trainers& trainers) {
  CLI::Option* const program =
      app.add_option("--program", trainers.programs,
                     "A training program that jobs may name, which runs as "
                     "this user; may be repeated")
          ->type_name("NAME=FILE")
          ->allow_extra_args(false)
          ->check([](const std::string& text) {
            return std::string(ReadProgram(text).status().message());
          });
  app.add_option("--attach-program", trainers.attach,
                 "Program that runs these programs")
      ->capture_default_str()
      ->needs(program);
  app.add_option("--python", trainers.python,
                 "Runs those of them that are not executable")
      ->capture_default_str()
      ->needs(program);
  runtime::AddNumber(app, "--ranks", trainers.ranks, {1, 256},
                     "Processes of a program that compute together")
      ->capture_default_str()
      ->needs(program);
}

absl::Status CheckStartable(const std::string& program, const char* name,
                            const char* flag) {
  // Found through PATH, or not, when it is started.
  if (program.find('/') == std::string::npos ||
      access(program.c_str(), X_OK) == 0) {
    return absl::OkStatus();
  }
  return absl::ErrnoToStatus(
      errno, absl::StrCat("no trainer at ", program, "; install ", name,
                          " beside skerry-worker, or name it with ", flag));
}

std::string LogLevel(runtime::Severity level) {
  return absl::StrCat("--log-level=", runtime::LogLevelWord(level));
}

std::string ParentPid() { return absl::StrCat("--parent-pid=", getpid()); }

}  // namespace

void AddTrainers(CLI::App& app, const char* program, Trainers& trainers) {
  trainers.engine = Beside(program, "skerry-trainer");
  trainers.attach = Beside(program, "skerry-attach");
  app.add_option("--trainer", trainers.engine, "Program that trains a job")
      ->capture_default_str();
  runtime::AddNumber(app, "--trainer-threads", trainers.engine_threads,
                     {1, 1024}, "Compute threads of the trainer")
      ->capture_default_str();
  AddPrograms(app, trainers);
}

absl::Status CheckTrainers(const Trainers& trainers) {
  SKERRY_RETURN_IF_ERROR(
      CheckStartable(trainers.engine, "skerry-trainer", "--trainer"));
  if (trainers.programs.empty()) return absl::OkStatus();
  std::set<std::string> names;
  for (const AllowedProgram& one : AllowedPrograms(trainers)) {
    if (names.insert(one.name).second) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--program names ", one.name, " twice"));
  }
  return CheckStartable(trainers.attach, "skerry-attach", "--attach-program");
}

std::vector<AllowedProgram> AllowedPrograms(const Trainers& trainers) {
  std::vector<AllowedProgram> all;
  for (const std::string& text : trainers.programs) {
    if (auto one = ReadProgram(text); one.ok()) all.push_back(*std::move(one));
  }
  return all;
}

std::vector<std::string> EngineCommand(const Trainers& trainers,
                                       runtime::Severity log_level) {
  return {trainers.engine, absl::StrCat("--threads=", trainers.engine_threads),
          LogLevel(log_level), ParentPid()};
}

std::vector<std::string> AttachCommand(const Trainers& trainers,
                                       runtime::Severity log_level) {
  return {trainers.attach, LogLevel(log_level), ParentPid(),
          absl::StrCat("--python=", trainers.python),
          absl::StrCat("--ranks=", trainers.ranks)};
}

}  // namespace skerry::worker
