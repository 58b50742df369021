#include "cli/print_change.h"

#include "cli/json.h"

namespace skerry::cli {

void PrintChange(const google::protobuf::Message& view, const std::string& name,
                 const std::string& state, const Output& output) {
  if (output.form == OutputForm::kJson) {
    output.out << JsonText(view);
  } else if (output.form == OutputForm::kName) {
    output.out << name << "\n";
  } else {
    output.out << name << " " << state << "\n";
  }
}

}  // namespace skerry::cli
