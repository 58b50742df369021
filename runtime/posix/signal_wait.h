// runtime/posix/signal_wait.h
//
// Turns SIGTERM and SIGINT into tasks on a loop.
#ifndef SKERRY_RUNTIME_POSIX_SIGNAL_WAIT_H_
#define SKERRY_RUNTIME_POSIX_SIGNAL_WAIT_H_

#include <thread>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "runtime/event_loop.h"

namespace skerry::runtime {

// Blocks SIGTERM and SIGINT in the calling thread and in every thread it makes
// later, so main constructs one before it starts a thread. A library may have
// started threads before main; a signal that the kernel gives to one of them
// arrives here too. There is one at a time.
class SignalWait {
 public:
  SignalWait();
  // Signals stay blocked.
  ~SignalWait();
  SignalWait(const SignalWait&) = delete;
  SignalWait& operator=(const SignalWait&) = delete;

  // From now on runs `on_signal(SIGTERM or SIGINT)` on `loop` for each signal
  // that arrives. Called once; `loop` outlives this object.
  void Deliver(EventLoop& loop, absl::AnyInvocable<void(int signal)> on_signal);

  // Blocks until one arrives and returns it. For a main that has nothing else
  // to do; not together with Deliver().
  int Wait();
  // Does so for at most `time`; 0 when none arrived.
  int WaitFor(absl::Duration time);

 private:
  int signal_fd_ = -1;
  int stop_fd_ = -1;
  // A pipe; its end to read comes first.
  int handled_[2] = {-1, -1};
  std::thread thread_;
};

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_POSIX_SIGNAL_WAIT_H_
