// cli/output_forms.h
//
// Knows the forms in which commands can print their answers.
#ifndef SKERRY_CLI_OUTPUT_FORMS_H_
#define SKERRY_CLI_OUTPUT_FORMS_H_

#include <string>

#include "cli/output.h"

namespace CLI {
class Validator;
}  // namespace CLI

namespace skerry::cli {

// What a command prints, which decides the forms that it has.
enum class Prints {
  // One answer: a table or text, JSON or YAML.
  kAnswer,
  // Things in rows, which have every form.
  kList,
  // One thing after another, which can also be JSON lines.
  kStream,
  // Lines of progress, which have more on them in the wide form.
  kProgress,
  // The name of what it has changed.
  kChange,
  // Text that has no other form.
  kText,
};

// Accepts the name of a form, such as "table", and
// "custom-columns=NAME:spec.name".
CLI::Validator IsForm();

// Reads a text that IsForm accepts. What follows "custom-columns=" goes to
// `columns`.
OutputForm ReadForm(const std::string& text, std::string* columns);

bool HasForm(Prints prints, OutputForm form);

// The form that the command is told to print. A command that follows something
// prints one object a line in either JSON form, so it is told kJson for
// kJsonLines.
OutputForm SeenForm(Prints prints, OutputForm form);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_OUTPUT_FORMS_H_
