// cli/output.h
//
// A command writes its answer here, in the form that the user asked for.
#ifndef SKERRY_CLI_OUTPUT_H_
#define SKERRY_CLI_OUTPUT_H_

#include <ostream>
#include <string>

namespace skerry::cli {

// A command sees kYaml as kJson; main turns what it prints into YAML. Only
// lists know kWide, kJsonLines and kColumns, and only commands about named
// things kName.
enum class OutputForm {
  kTable,
  kWide,
  kJson,
  kJsonLines,
  kYaml,
  kName,
  kColumns,
};

struct Output {
  OutputForm form = OutputForm::kTable;
  // Data alone.
  std::ostream& out;
  // Progress, hints and warnings.
  std::ostream& err;
  // "NAME:spec.name,LOSS:losses.training_loss", for kColumns.
  std::string columns = {};
};

}  // namespace skerry::cli

#endif  // SKERRY_CLI_OUTPUT_H_
