#include "worker/daemon/host_port.h"

#include <utility>
#include <variant>

#include "runtime/log.h"

namespace skerry::worker {

JobHostPort::JobHostPort(JobId job, runtime::Executor& executor,
                         const SeatAnswers& answers,
                         absl::AnyInvocable<void()> status_changed)
    : job_(job),
      executor_(executor),
      answers_(answers),
      status_changed_(std::move(status_changed)) {}

void JobHostPort::Compute(absl::AnyInvocable<void() &&> work,
                          absl::AnyInvocable<void(Instant now) &&> done) {
  // A result of no content, so that this answer is like all others.
  Done<std::monostate> plain = [done = std::move(done)](
                                   Instant now, std::monostate) mutable {
    std::move(done)(now);
  };
  executor_.Run([&loop = answers_.loop(), work = std::move(work),
                 answer = answers_.Wrap(std::move(plain))]() mutable {
    std::move(work)();
    loop.Post(
        [answer = std::move(answer)]() mutable { answer(std::monostate()); });
  });
}

void JobHostPort::StatusChanged() { status_changed_(); }

void JobHostPort::Event(std::string_view line) {
  runtime::Log(runtime::Severity::kInfo, "worker.seat",
               {{"job", job_.value()}, {"what", line}});
}

void JobHostPort::Trace(std::string_view line) {
  runtime::Log(runtime::Severity::kDebug, "worker.seat",
               {{"job", job_.value()}, {"what", line}});
}

}  // namespace skerry::worker
