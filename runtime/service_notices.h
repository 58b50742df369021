// runtime/service_notices.h
//
// Defines what a daemon tells the service manager that started it: that it
// serves, what it does, that it stops, and that its loop still turns. The
// messages are those of sd_notify(3).
#ifndef SKERRY_RUNTIME_SERVICE_NOTICES_H_
#define SKERRY_RUNTIME_SERVICE_NOTICES_H_

#include <functional>
#include <string>

#include "absl/time/time.h"
#include "runtime/event_loop.h"

namespace skerry::runtime {

// Outlives the loop that FeedFrom() is given. Ready() and Stopping() may be
// called from any thread.
class ServiceNotices {
 public:
  // One message to the manager; called from any thread, must not block.
  using Send = std::function<void(const std::string& message)>;
  // What the daemon does just now, in one line; called on the loop.
  using Doing = std::function<std::string()>;

  // `watchdog`: the manager ends a daemon that is silent for so long. Zero: it
  // does not watch. Without a manager, `send` is null and nothing is said.
  ServiceNotices(Send send, absl::Duration watchdog);

  // Says what the daemon does before it serves.
  void Starting(const std::string& doing) const;
  // The daemon serves. From now on the manager watches it.
  void Ready(const std::string& doing) const;
  // The daemon was told to end.
  void Stopping(const std::string& doing) const;

  // Called on the loop. Feeds the manager's watchdog from timers of this loop
  // for as long as the loop runs: at once, then every 5 s, and at least twice
  // in the time that the manager waits. A loop that hangs in a task therefore
  // feeds it no longer. Each time, the manager hears what the daemon does,
  // unless it has heard that.
  void FeedFrom(EventLoop& loop, Doing doing);

 private:
  void Feed(EventLoop& loop);

  const Send send_;
  const absl::Duration watchdog_;
  // Touched on the loop.
  Doing doing_;
  std::string said_;
};

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_SERVICE_NOTICES_H_
