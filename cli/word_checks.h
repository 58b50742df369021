// cli/word_checks.h
//
// Checks the form of single words of the command line.
#ifndef SKERRY_CLI_WORD_CHECKS_H_
#define SKERRY_CLI_WORD_CHECKS_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace skerry::cli {

// "90", "1m30s". False, and nothing is written, when `text` is no time from
// zero to a century.
bool ReadDuration(const std::string& text, absl::Duration* duration);
CLI::Validator IsDuration();

// Adds an option whose value is such a time. `value` keeps what it has when the
// option is not given, and outlives `app`.
CLI::Option* AddDuration(CLI::App& app, const std::string& name,
                         const std::string& about, absl::Duration& value);

// Otherwise the nearest of them is named.
CLI::Validator IsOneOf(const std::vector<std::string>& known);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_WORD_CHECKS_H_
