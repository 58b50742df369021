// worker/daemon/host_port.h
//
// Serves one job's HostPort: it runs arithmetic on an executor, and passes news
// to the daemon and the log.
#ifndef SKERRY_WORKER_DAEMON_HOST_PORT_H_
#define SKERRY_WORKER_DAEMON_HOST_PORT_H_

#include <string_view>

#include "absl/functional/any_invocable.h"
#include "base/ids.h"
#include "runtime/executor.h"
#include "worker/core/effects.h"
#include "worker/daemon/seat_answers.h"

namespace skerry::worker {

// Members are called on the loop. `executor` outlives every task that it has
// been given.
class JobHostPort final : public HostPort {
 public:
  JobHostPort(JobId job, runtime::Executor& executor,
              const SeatAnswers& answers,
              absl::AnyInvocable<void()> status_changed);

  void Compute(absl::AnyInvocable<void() &&> work,
               absl::AnyInvocable<void(Instant now) &&> done) override;
  void StatusChanged() override;
  void Event(std::string_view line) override;
  void Trace(std::string_view line) override;

 private:
  const JobId job_;
  runtime::Executor& executor_;
  const SeatAnswers& answers_;
  absl::AnyInvocable<void()> status_changed_;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_HOST_PORT_H_
