// cli/check.h
//
// Defines one thing that `skerryctl doctor` looked at.
#ifndef SKERRY_CLI_CHECK_H_
#define SKERRY_CLI_CHECK_H_

#include <string>

namespace skerry::cli {

struct Check {
  enum class Verdict { kOk, kWarning, kProblem };
  Verdict verdict = Verdict::kOk;
  // "worker east0", "clock".
  std::string about;
  // What was found and, unless it is well, what to do.
  std::string text;
};

}  // namespace skerry::cli

#endif  // SKERRY_CLI_CHECK_H_
