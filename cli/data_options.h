// cli/data_options.h
//
// Adds options that several commands about data sets take. What they write to
// outlives `app`.
#ifndef SKERRY_CLI_DATA_OPTIONS_H_
#define SKERRY_CLI_DATA_OPTIONS_H_

#include <cstdint>
#include <optional>

#include "data/json_lines.h"
#include "data/text_kind.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace skerry::cli {

// Adds those that say how files of somebody's texts are read.
void AddTextOptions(CLI::App& app, data::JsonLinesForm& lines,
                    std::optional<data::TextKind>& kind);
CLI::Option* AddValidation(CLI::App& app, double& fraction);
void AddShardTokens(CLI::App& app, uint64_t& tokens_max);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_DATA_OPTIONS_H_
