// worker/daemon/job_progress.h
//
// Logs once a minute what a job has done here in that minute.
#ifndef SKERRY_WORKER_DAEMON_JOB_PROGRESS_H_
#define SKERRY_WORKER_DAEMON_JOB_PROGRESS_H_

#include <functional>
#include <memory>

#include "base/ids.h"
#include "protocol/job_facts.h"
#include "protocol/seat_counters.h"
#include "runtime/event_loop.h"

namespace skerry::worker {

using protocol::JobFacts;

// Members are called on the loop, and so is `facts`.
class JobProgress {
 public:
  // Nothing is logged for a job that has ended. `loop` outlives the object.
  JobProgress(runtime::EventLoop& loop, std::function<JobFacts()> facts);

 private:
  void ReportLater();

  runtime::EventLoop& loop_;
  const std::function<JobFacts()> facts_;
  protocol::SeatCounters before_;
  // Timers that run after this object is gone see it expired.
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_JOB_PROGRESS_H_
