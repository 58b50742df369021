#include "worker/daemon/job_progress.h"

#include <utility>

#include "runtime/log.h"

namespace skerry::worker {
namespace {

constexpr absl::Duration kEvery = absl::Minutes(1);

}  // namespace

JobProgress::JobProgress(runtime::EventLoop& loop,
                         std::function<JobFacts()> facts)
    : loop_(loop), facts_(std::move(facts)) {
  ReportLater();
}

void JobProgress::ReportLater() {
  loop_.RunAt(
      loop_.Now() + kEvery, [this, alive = std::weak_ptr<char>(alive_)] {
        if (alive.expired()) return;
        const JobFacts facts = facts_();
        if (facts.state != protocol::SeatState::kResting) {
          uint64_t sequence = 0;
          for (const protocol::FragmentFacts& fragment : facts.fragments) {
            sequence += fragment.applied.value();
          }
          const protocol::SeatCounters& now = facts.counters;
          runtime::Log(
              runtime::Severity::kInfo, "worker.job.progress",
              {{"job", facts.job.value()},
               {"life", facts.life.value()},
               {"sequence", sequence},
               {"rounds", now.rounds - before_.rounds},
               {"samples", now.samples - before_.samples},
               {"compute_s", now.compute_s - before_.compute_s},
               {"stall_s", now.stall_s - before_.stall_s},
               {"sent_bytes", now.bulk_sent_bytes - before_.bulk_sent_bytes},
               {"received_bytes",
                now.bulk_received_bytes - before_.bulk_received_bytes}});
          before_ = now;
        }
        ReportLater();
      });
}

}  // namespace skerry::worker
