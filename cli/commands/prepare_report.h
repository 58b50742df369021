// cli/commands/prepare_report.h
//
// What `data prepare` tells of a data set that it has made.
#ifndef SKERRY_CLI_COMMANDS_PREPARE_REPORT_H_
#define SKERRY_CLI_COMMANDS_PREPARE_REPORT_H_

#include <iosfwd>
#include <string>

#include "absl/status/status.h"
#include "data/prepare/prepare_data_set.h"
#include "runtime/files.h"

namespace skerry::cli {

// Tokens, documents and what was skipped of them, of the set in `directory`. Of
// bytes also how well the text can be predicted; of a tokenizer special tokens
// that texts were written with, bytes a token, and how much of a sample of the
// text its tokens give back. Errors: those of `files` and of the set's codec.
absl::Status ReportDataSet(const std::string& directory,
                           const data::PreparedSet& set,
                           const runtime::Files& files, std::ostream& out);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_PREPARE_REPORT_H_
