// runtime/event_loop.h
//
// An event loop is the one thread that owns a role's state.
#ifndef SKERRY_RUNTIME_EVENT_LOOP_H_
#define SKERRY_RUNTIME_EVENT_LOOP_H_

#include "absl/functional/any_invocable.h"
#include "base/instant.h"

namespace skerry::runtime {

using Task = absl::AnyInvocable<void() &&>;

// Runs tasks one at a time, first posted first run. Post() is the only member
// that other threads may call.
class EventLoop {
 public:
  virtual ~EventLoop() = default;
  virtual Instant Now() const = 0;
  virtual void Post(Task task) = 0;
  // Runs `task` once, at or soon after `when`. Tasks due at one instant run in
  // the order of the calls.
  virtual void RunAt(Instant when, Task task) = 0;
};

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_EVENT_LOOP_H_
