#include "runtime/posix/process.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include <future>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "runtime/posix/mutex.h"
#include "runtime/posix/thread_name.h"

namespace skerry::runtime {

struct Process::State {
  pid_t pid = -1;
  Mutex mutex;
  bool has_ended ABSL_GUARDED_BY(mutex) =
      false;  // then the pid may be another's
  // False once the Process is gone. Touched on the loop only.
  std::shared_ptr<bool> is_wanted = std::make_shared<bool>(true);
  std::thread thread;

  // Waits for the end; the pid stays ours until `has_ended` is set.
  ProcessExit Reap() {
    siginfo_t info;
    while (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) !=
               0 &&
           errno == EINTR) {
    }
    const MutexLock lock(mutex);
    has_ended = true;
    int status = 0;
    waitpid(pid, &status, 0);
    return ExitOf(status);
  }

  // The child lives as long as this thread, which waits for it.
  void Main(const ProcessSpec& spec, std::promise<absl::Status> started,
            EventLoop& loop, absl::AnyInvocable<void(ProcessExit) &&> on_exit) {
    NameThisThread("skerry-child");
    const absl::StatusOr<pid_t> child = StartChild(spec);
    pid = child.value_or(-1);
    started.set_value(child.status());
    if (!child.ok()) return;
    const ProcessExit exit = Reap();
    loop.Post(
        [wanted = is_wanted, exit, on_exit = std::move(on_exit)]() mutable {
          if (*wanted) std::move(on_exit)(exit);
        });
  }
};

absl::StatusOr<std::unique_ptr<Process>> Process::Start(
    const ProcessSpec& spec, EventLoop& loop,
    absl::AnyInvocable<void(ProcessExit) &&> on_exit) {
  auto state = std::make_unique<State>();
  std::promise<absl::Status> started;
  std::future<absl::Status> outcome = started.get_future();
  state->thread =
      std::thread([raw = state.get(), spec, started = std::move(started), &loop,
                   on_exit = std::move(on_exit)]() mutable {
        raw->Main(spec, std::move(started), loop, std::move(on_exit));
      });
  if (absl::Status status = outcome.get(); !status.ok()) {
    state->thread.join();
    return status;
  }
  return std::unique_ptr<Process>(new Process(std::move(state)));
}

Process::Process(std::unique_ptr<State> state) : state_(std::move(state)) {}

Process::~Process() {
  *state_->is_wanted = false;
  Signal(SIGKILL);
  state_->thread.join();
}

pid_t Process::pid() const { return state_->pid; }

void Process::Signal(int signal) {
  const MutexLock lock(state_->mutex);
  if (!state_->has_ended) kill(state_->pid, signal);
}

}  // namespace skerry::runtime
