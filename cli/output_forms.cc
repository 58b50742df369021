#include "cli/output_forms.h"

#include <CLI/CLI.hpp>
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

bool HasForm(Prints prints, OutputForm form) {
  switch (form) {
    case OutputForm::kTable:
      return true;
    case OutputForm::kWide:
      return prints == Prints::kList || prints == Prints::kProgress;
    case OutputForm::kColumns:
      return prints == Prints::kList;
    case OutputForm::kJsonLines:
      return prints == Prints::kList || prints == Prints::kStream ||
             prints == Prints::kProgress;
    case OutputForm::kName:
      return prints == Prints::kList || prints == Prints::kChange;
    case OutputForm::kJson:
    case OutputForm::kYaml:
      return prints != Prints::kText;
  }
  return false;
}

OutputForm SeenForm(Prints prints, OutputForm form) {
  return form == OutputForm::kJsonLines && prints != Prints::kList
             ? OutputForm::kJson
             : form;
}

}  // namespace skerry::cli
