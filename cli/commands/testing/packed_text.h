// cli/commands/testing/packed_text.h
//
// Texts as gzip and zstd pack them.
#ifndef SKERRY_CLI_COMMANDS_TESTING_PACKED_TEXT_H_
#define SKERRY_CLI_COMMANDS_TESTING_PACKED_TEXT_H_

#include <string>

namespace skerry::cli::testing {

std::string Gzip(const std::string& text);
std::string Zstd(const std::string& text);

}  // namespace skerry::cli::testing

#endif  // SKERRY_CLI_COMMANDS_TESTING_PACKED_TEXT_H_
