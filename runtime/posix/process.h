// runtime/posix/process.h
//
// Runs a child process that never outlives this one.
#ifndef SKERRY_RUNTIME_POSIX_PROCESS_H_
#define SKERRY_RUNTIME_POSIX_PROCESS_H_

#include <sys/types.h>

#include <memory>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "runtime/event_loop.h"
#include "runtime/posix/child.h"

namespace skerry::runtime {

// The kernel kills the child when this process dies, however it dies.
class Process {
 public:
  // Starts the program and, when it has ended and has been reaped, runs
  // `on_exit` on `loop`. Codes: NotFound, PermissionDenied (the program cannot
  // be run), ResourceExhausted (no process can be made), InvalidArgument (no
  // program named). Blocks until the program runs or has failed to.
  static absl::StatusOr<std::unique_ptr<Process>> Start(
      const ProcessSpec& spec, EventLoop& loop,
      absl::AnyInvocable<void(ProcessExit) &&> on_exit);

  // Kills the child if it still runs and waits for its end. On `loop`, or after
  // it has stopped. `on_exit` does not run afterwards.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const;
  // Sends the child a signal. Does nothing when the child has ended.
  void Signal(int signal);

 private:
  struct State;
  explicit Process(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_POSIX_PROCESS_H_
