#include "cli/confirm.h"

#include <unistd.h>

#include <iostream>

#include "absl/strings/str_cat.h"

namespace skerry::cli {

absl::Status Confirm(const std::string& what, bool sure, const Output& output) {
  if (sure || isatty(STDIN_FILENO) != 1) return absl::OkStatus();
  output.err << what << "? [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  if (answer == "y" || answer == "yes") return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("nothing was done; with --yes it does not ask: ", what));
}

}  // namespace skerry::cli
