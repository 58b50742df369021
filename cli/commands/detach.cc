#include "cli/commands/detach.h"

#include <signal.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"

namespace skerry::cli {
namespace {

constexpr int kInterrupted = 130;

// Written before the handler can run, and never again.
const std::string* farewell = nullptr;

// Only what a signal handler may do.
void SayAndLeave(int) {
  const ssize_t written =
      write(STDERR_FILENO, farewell->data(), farewell->size());
  static_cast<void>(written);
  _exit(kInterrupted);
}

}  // namespace

void DetachOnInterrupt(const std::string& job) {
  if (farewell != nullptr) return;
  farewell = new std::string(absl::StrCat(
      "\nthe job goes on; follow it again with: skerryctl watch job ", job,
      "\n"));
  struct sigaction action = {};
  action.sa_handler = SayAndLeave;
  sigaction(SIGINT, &action, nullptr);
}

}  // namespace skerry::cli
