#include "tests/sim/moments.h"

#include <variant>

#include "data/sample_ranges.h"

namespace skerry::sim {

using coordinator::Committed;
using coordinator::Opened;

absl::InlinedVector<Moment, 2> Moments::Of(const coordinator::Entry& entry) {
  const coordinator::Record& record = entry.record;
  if (const auto* job = std::get_if<coordinator::JobSubmitted>(&record)) {
    jobs_[JobId(entry.index.value())] = {job->spec.training.samples,
                                         job::FragmentCount(job->spec), 0};
  } else if (std::holds_alternative<coordinator::ReplicaAdmitted>(record)) {
    return {Moment::kAdmitted};
  } else if (std::holds_alternative<coordinator::ReplicaEnded>(record)) {
    return {Moment::kLifeEnded};
  } else if (std::holds_alternative<coordinator::Granted>(record)) {
    return {Moment::kGranted};
  } else if (std::holds_alternative<coordinator::Evaluated>(record)) {
    return {Moment::kEvaluated};
  } else if (const auto* open = std::get_if<Opened>(&record)) {
    if (open->members.empty()) return {};
    uint64_t& samples = attempts_[Attempt(entry.index.value())];
    for (const protocol::Member& member : open->members) {
      samples += member.contribution.ranges.total();
    }
    return {Moment::kOpened};
  } else if (const auto* commit = std::get_if<Committed>(&record)) {
    if (Take(*commit)) return {Moment::kCommitted, Moment::kTrained};
    return {Moment::kCommitted};
  }
  return {};
}

bool Moments::Take(const Committed& commit) {
  Job& job = jobs_[commit.job];
  job.taken += attempts_[commit.attempt];
  return job.taken == job.samples * job.fragments;
}

}  // namespace skerry::sim
