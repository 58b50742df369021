#include "runtime/log_level.h"

namespace skerry::runtime {

const std::map<std::string, Severity>& LogLevels() {
  static const auto* const levels =
      new std::map<std::string, Severity>{{"debug", Severity::kDebug},
                                          {"info", Severity::kInfo},
                                          {"warning", Severity::kWarning},
                                          {"error", Severity::kError}};
  return *levels;
}

std::string LogLevelWord(Severity least) {
  for (const auto& [word, severity] : LogLevels()) {
    if (severity == least) return word;
  }
  return "";
}

}  // namespace skerry::runtime
