// cli/json.h
//
// Messages as the JSON that scripts read: the API's own field names, every
// field present, 64-bit integers as strings (they do not fit a double).
#ifndef SKERRY_CLI_JSON_H_
#define SKERRY_CLI_JSON_H_

#include <string>

#include "google/protobuf/message.h"

namespace skerry::cli {

// Indented, ended by a line end.
std::string JsonText(const google::protobuf::Message& message);
// One line, ended.
std::string JsonLine(const google::protobuf::Message& message);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_JSON_H_
