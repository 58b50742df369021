#include "tests/sim/check/heard.h"

#include <algorithm>
#include <variant>

#include "absl/strings/str_cat.h"

namespace skerry::sim {

void HeardChecker::OnDurable(const coordinator::Entry& entry) {
  const auto* adopted = std::get_if<coordinator::Adopted>(&entry.record);
  if (adopted == nullptr) return;
  kept_[{adopted->job, Attempt(entry.index.value())}] =
      adopted->fragment_sequences;
}

bool HeardChecker::IsGivenUp(HostId to, const Part& part,
                             const protocol::KeptState& kept,
                             const std::pair<Sequence, Attempt>& applied) {
  if (!kept.since.is_set()) return false;
  const auto record = kept_.find({part.first, kept.since});
  if (record == kept_.end() || record->second[part.second] != kept.sequence) {
    out_.Add(absl::StrCat("heard: worker ", to, " is told that sequence ",
                          kept.sequence.value(), " was kept by record ",
                          kept.since.value(), ", and it was not"));
  }
  return IsLost(kept, applied.first, applied.second);
}

void HeardChecker::OnStatusTaken(HostId from, uint64_t run,
                                 const protocol::StatusFacts& status) {
  Status& newest = statuses_[from];
  const bool same = newest.run == run && newest.boot == status.boot;
  if (same && status.counter < newest.counter) return;
  newest = {run, status.boot, status.counter, {}};
  for (const protocol::JobFacts& job : status.jobs) {
    for (const protocol::FragmentFacts& fragment : job.fragments) {
      newest.applied[{job.job,
                      static_cast<uint32_t>(fragment.fragment.value())}] = {
          fragment.applied, fragment.applied_attempt};
    }
  }
}

void HeardChecker::OnOrdersSaid(HostId to, const protocol::Orders& orders) {
  const Status& newest = statuses_[to];
  if (newest.boot != orders.boot) return;
  for (const protocol::JobOrders& job : orders.jobs) {
    for (const protocol::FragmentOrders& fragment : job.fragments) {
      const Part part{job.job,
                      static_cast<uint32_t>(fragment.fragment.value())};
      const auto applied = newest.applied.find(part);
      if (applied == newest.applied.end()) continue;
      // What it has applied of a lost history is not there.
      if (IsGivenUp(to, part, fragment.kept, applied->second) ||
          fragment.committed.empty() ||
          fragment.committed.front().sequence > applied->second.first) {
        continue;
      }
      out_.Add(absl::StrCat("heard: worker ", to, " is told of commit ",
                            fragment.committed.front().sequence.value(),
                            ", and its newest Status has applied ",
                            applied->second.first.value()));
    }
  }
}

void HeardChecker::OnOrdersHeard(HostId host, uint64_t run,
                                 const protocol::JobOrders& orders) {
  for (const protocol::FragmentOrders& fragment : orders.fragments) {
    if (!fragment.open.has_value()) continue;
    const auto number = static_cast<uint32_t>(fragment.fragment.value());
    Attempt& heard = attempts_[{host, run, Part(orders.job, number)}].heard;
    heard = std::max(heard, fragment.open->attempt);
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
