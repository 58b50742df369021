// runtime/posix/child.h
//
// Starts a program as a child that the kernel kills with its parent.
#ifndef SKERRY_RUNTIME_POSIX_CHILD_H_
#define SKERRY_RUNTIME_POSIX_CHILD_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace skerry::runtime {

struct ProcessSpec {
  // argv[0] is the program; looked up in PATH when it has no slash.
  std::vector<std::string> argv;
  // NAME=value, added to or replacing what this process has.
  std::vector<std::string> environment = {};
  // Standard input comes from this descriptor; -1: from this process's.
  int input_fd = -1;
  // Standard output and error go to this descriptor; -1: to this process's.
  int output_fd = -1;
  // Descriptors that stay open in the child, under their numbers.
  std::vector<int> inherited_fds = {};
  // The child leads a process group of its own, so that a signal can reach it
  // together with the processes that it starts.
  bool own_group = false;
};

struct ProcessExit {
  // Exactly one is meaningful: `signal` when not 0.
  int code = 0;
  int signal = 0;
};

// Starts the program and returns its id once it runs. The kernel kills it when
// the calling *thread* ends. The caller waits for it. Codes: NotFound,
// PermissionDenied (the program cannot be run), ResourceExhausted (no process
// can be made), InvalidArgument (no program named).
absl::StatusOr<pid_t> StartChild(const ProcessSpec& spec);

// What waitpid said of an end.
ProcessExit ExitOf(int wait_status);

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_POSIX_CHILD_H_
