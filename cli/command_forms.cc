#include "cli/command_forms.h"

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "cli/word_checks.h"

namespace skerry::cli {
namespace {

constexpr std::pair<const char*, OutputForm> kForms[] = {
    {"table", OutputForm::kTable}, {"wide", OutputForm::kWide},
    {"json", OutputForm::kJson},   {"jsonl", OutputForm::kJsonLines},
    {"yaml", OutputForm::kYaml},   {"name", OutputForm::kName}};

constexpr char kColumnsForm[] = "custom-columns=";

bool IsList(Command command) {
  return command == Command::kGetJobs || command == Command::kGetJob ||
         command == Command::kGetWorkers || command == Command::kGetIslands;
}

// Those that print the name of what they changed.
bool IsChange(Command command) {
  return command == Command::kSubmit || command == Command::kApply ||
         command == Command::kCancel || command == Command::kDeleteJob ||
         command == Command::kPause || command == Command::kResume ||
         command == Command::kRestore || command == Command::kCordon ||
         command == Command::kUncordon || command == Command::kDrain ||
         command == Command::kClean || command == Command::kCheckpointCreate;
}

}  // namespace

CLI::Validator IsForm() {
  std::vector<std::string> known;
  for (const auto& [name, form] : kForms) known.emplace_back(name);
  return {[known](const std::string& text) {
            std::string plain = text;
            return absl::StartsWith(text, kColumnsForm) ? std::string()
                                                        : IsOneOf(known)(plain);
          },
          ""};
}

OutputForm ReadForm(const std::string& text, std::string* columns) {
  for (const auto& [name, form] : kForms) {
    if (text == name) return form;
  }
  *columns = text.substr(sizeof(kColumnsForm) - 1);
  return OutputForm::kColumns;
}

bool HasForm(Command command, OutputForm form) {
  const bool plain =
      command == Command::kTop || command == Command::kCompletion;
  switch (form) {
    case OutputForm::kTable:
      return true;
    case OutputForm::kWide:
    case OutputForm::kColumns:
      return IsList(command);
    case OutputForm::kJsonLines:
      return IsList(command) || command == Command::kWatchJob ||
             command == Command::kLogs;
    case OutputForm::kName:
      return IsList(command) || IsChange(command);
    case OutputForm::kJson:
    case OutputForm::kYaml:
      return !plain;
  }
  return false;
}

OutputForm SeenForm(Command command, OutputForm form) {
  return form == OutputForm::kJsonLines && !IsList(command) ? OutputForm::kJson
                                                            : form;
}

}  // namespace skerry::cli
