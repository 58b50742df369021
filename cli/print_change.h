// cli/print_change.h
//
// Prints the answer of a command that has changed one thing.
#ifndef SKERRY_CLI_PRINT_CHANGE_H_
#define SKERRY_CLI_PRINT_CHANGE_H_

#include <string>

#include "cli/output.h"
#include "google/protobuf/message.h"

namespace skerry::cli {

// Prints the thing as JSON, its name alone, or its name and `state`.
void PrintChange(const google::protobuf::Message& view, const std::string& name,
                 const std::string& state, const Output& output);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_PRINT_CHANGE_H_
