// cli/commands/prepare_report.h
//
// What `data prepare` tells of a data set that it has made.
#ifndef SKERRY_CLI_COMMANDS_PREPARE_REPORT_H_
#define SKERRY_CLI_COMMANDS_PREPARE_REPORT_H_

#include <iosfwd>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/commands/prepare_inputs.h"
#include "cli/commands/prepare_record.h"
#include "data/manifest.h"
#include "data/tokenizer/text_codec.h"
#include "runtime/files.h"

namespace skerry::cli {

// A line for each input whose kind is not plain text: how it is read.
void ReportKinds(const PrepareInputs& inputs, std::ostream& err);

struct PreparedSet {
  const std::string& directory;
  const PrepareInputs& inputs;
  const PrepareRecord& record;
  const data::Manifest& manifest;
};

// Tokens, documents and what was skipped of them. Of bytes also how well the
// text can be predicted; of a tokenizer special tokens that texts were written
// with, bytes a token, and how much of a sample of the text its tokens give
// back. Errors: those of `files` and `codec`.
absl::Status ReportDataSet(const PreparedSet& set, const TextForm& form,
                           data::TextCodec& codec, const runtime::Files& files,
                           std::ostream& out);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_PREPARE_REPORT_H_
