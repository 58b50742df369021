// runtime/posix/piped_child.h
//
// Runs a program that reads questions from its standard input and writes
// answers to its standard output.
#ifndef SKERRY_RUNTIME_POSIX_PIPED_CHILD_H_
#define SKERRY_RUNTIME_POSIX_PIPED_CHILD_H_

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace skerry::runtime {

// The child has to read a whole question before it answers, and to end when its
// input ends. The kernel closes the input when this process dies, however it
// dies.
//
// One thread uses it at a time. Send and Receive wait without limit for a child
// that does nothing. If the child ends, both return Internal from then on, in
// one line: the program, its exit status or signal, and the last line that it
// wrote to standard error, of which 64 KiB are kept.
class PipedChild {
 public:
  // argv[0] is the program; looked up in PATH when it has no slash. Codes:
  // NotFound, PermissionDenied (the program cannot be run), ResourceExhausted
  // (no process can be made), InvalidArgument (no program named).
  static absl::StatusOr<std::unique_ptr<PipedChild>> Start(
      const std::vector<std::string>& argv);

  // Kills the child if it still runs and waits for its end.
  ~PipedChild();
  PipedChild(const PipedChild&) = delete;
  PipedChild& operator=(const PipedChild&) = delete;

  pid_t pid() const { return pid_; }

  // Returns when the child, or its socket, has taken all bytes. Fails when it
  // answers before.
  absl::Status Send(std::string_view bytes);
  // Replaces `bytes` with the next `count` that the child sends; memory grows
  // with what comes, not with `count`.
  absl::Status Receive(size_t count, std::string& bytes);

 private:
  PipedChild(std::string name, pid_t pid, int socket, int errors)
      : name_(std::move(name)), pid_(pid), socket_(socket), errors_(errors) {}
  // Waits until bytes can be sent.
  absl::Status AwaitRoom();
  // Ends the child, unless it has ended, and says how.
  absl::Status Fail();
  absl::Status Fail(absl::string_view what);
  std::string LastErrorLine() const;

  const std::string name_;
  // Until it is reaped.
  pid_t pid_;
  const int socket_;
  const int errors_;
  absl::Status failure_;
};

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_POSIX_PIPED_CHILD_H_
