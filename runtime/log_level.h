// runtime/log_level.h
//
// Reads how much a program logs, which --log-level says on every command line.
#ifndef SKERRY_RUNTIME_LOG_LEVEL_H_
#define SKERRY_RUNTIME_LOG_LEVEL_H_

#include <map>
#include <string>

#include "runtime/log.h"

namespace skerry::runtime {

inline constexpr char kLogLevelHelp[] = "debug, info, warning or error";

// Every word that --log-level takes.
const std::map<std::string, Severity>& LogLevels();

// The word that stands for it.
std::string LogLevelWord(Severity least);

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_LOG_LEVEL_H_
