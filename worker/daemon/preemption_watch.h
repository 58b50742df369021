// worker/daemon/preemption_watch.h
//
// Looks at all sources of preemption notices again and again, and says when the
// worker has to drain. A source that fails is asked again more rarely, and what
// it said before still holds.
#ifndef SKERRY_WORKER_DAEMON_PREEMPTION_WATCH_H_
#define SKERRY_WORKER_DAEMON_PREEMPTION_WATCH_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/instant.h"
#include "runtime/event_loop.h"
#include "runtime/executor.h"
#include "worker/core/preemption/notice_book.h"
#include "worker/daemon/notice_source.h"

namespace skerry::worker {

// Members are called on the loop, and so is the handler.
class PreemptionWatch {
 public:
  // Called with the notice for which the worker drains from now on, and with
  // none when it needs to drain no more, because the notice was withdrawn.
  using Handler = absl::AnyInvocable<void(const std::optional<PendingNotice>&)>;

  // Looks run on `executor`, which needs a thread for each source. It and
  // `loop` outlive this object. Draining begins `lead` before a deadline.
  PreemptionWatch(runtime::EventLoop& loop, runtime::Executor& executor,
                  std::vector<NoticeSource> sources, absl::Duration lead,
                  Handler on_change);

  void Start();

 private:
  // `source.look` is touched by the executor while a look is on its way.
  struct Watched {
    NoticeSource source;
    absl::Duration wait;            // before the next look after a failure
    std::optional<Instant> warned;  // when its failure was logged last
    bool told = false;              // the log's last word is that it fails
  };

  void Look(const std::shared_ptr<Watched>& watched);
  void OnLooked(const std::shared_ptr<Watched>& watched,
                const absl::StatusOr<Finding>& found);
  void OnFailed(Watched& watched, const absl::Status& why);
  void OnFound(Watched& watched, const Finding& found);
  // Tells the handler what has changed, also by the time that has passed.
  void Update();

  runtime::EventLoop& loop_;
  runtime::Executor& executor_;
  std::vector<std::shared_ptr<Watched>> sources_;
  NoticeBook book_;
  Handler on_change_;
  // What the handler was told last.
  std::optional<PendingNotice> due_;
  // Timers and tasks that run after this object is gone see it expired.
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_PREEMPTION_WATCH_H_
