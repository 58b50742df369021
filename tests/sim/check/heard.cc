#include "tests/sim/check/heard.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace skerry::sim {

void HeardChecker::OnStatusTaken(HostId from, uint64_t run,
                                 const coordinator::StatusFacts& status) {
  Status& newest = statuses_[from];
  const bool same = newest.run == run && newest.boot == status.boot;
  if (same && status.counter < newest.counter) return;
  newest = {run, status.boot, status.counter, {}};
  for (const coordinator::JobFacts& job : status.jobs) {
    for (const coordinator::FragmentFacts& fragment : job.fragments) {
      newest.applied[{job.job,
                      static_cast<uint32_t>(fragment.fragment.value())}] =
          fragment.applied;
    }
  }
}

void HeardChecker::OnOrdersSaid(HostId to, const coordinator::Orders& orders) {
  const Status& newest = statuses_[to];
  if (newest.boot != orders.boot) return;
  for (const coordinator::JobOrders& job : orders.jobs) {
    for (const coordinator::FragmentOrders& fragment : job.fragments) {
      const auto applied = newest.applied.find(
          {job.job, static_cast<uint32_t>(fragment.fragment.value())});
      if (applied == newest.applied.end() || fragment.committed.empty() ||
          fragment.committed.front().sequence > applied->second) {
        continue;
      }
      out_.Add(absl::StrCat("heard: worker ", to, " is told of commit ",
                            fragment.committed.front().sequence.value(),
                            ", and its newest Status has applied ",
                            applied->second.value()));
    }
  }
}

void HeardChecker::OnOrdersHeard(HostId host, uint64_t run,
                                 const worker::JobOrders& orders) {
  for (uint32_t f = 0; f < orders.fragments.size(); ++f) {
    if (!orders.fragments[f].open.has_value()) continue;
    Attempt& heard = attempts_[{host, run, Part(orders.job, f)}].heard;
    heard = std::max(heard, orders.fragments[f].open->attempt);
  }
}

void HeardChecker::OnFrameTaken(HostId host, uint64_t run,
                                const compression::FrameHeader& header) {
  const Attempt attempt(header.attempt);
  Attempts& known =
      attempts_[{host, run, Part(JobId(header.job), header.fragment)}];
  if (attempt > known.heard) {
    out_.Add(absl::StrCat("heard: worker ", host, " takes a frame of attempt ",
                          attempt.value(), " and has heard of ",
                          known.heard.value()));
  }
  if (attempt < known.taken) {
    out_.Add(absl::StrCat("heard: worker ", host, " takes a frame of attempt ",
                          attempt.value(), " after one of ",
                          known.taken.value()));
  }
  known.taken = std::max(known.taken, attempt);
}

}  // namespace skerry::sim
