#include "coordinator/core/testing/job_bench.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "coordinator/core/state/layout.h"
#include "job/review.h"

namespace skerry::coordinator {
namespace {

job::JobSpec Reviewed(const job::JobSpec& spec) {
  const auto reviewed = job::ReviewJobSpec(spec);
  SKERRY_CHECK(reviewed.ok());
  return reviewed->spec;
}

}  // namespace

JobBench::JobBench(job::JobSpec spec)
    : workers(options),
      job(JobId(1), JobSubmitted{Reviewed(spec), "key"}, options) {}

uint64_t JobBench::Emit(Record record) {
  Entry entry{Revision(next_++), std::move(record)};
  if (const auto* admitted = std::get_if<WorkerAdmitted>(&entry.record)) {
    SKERRY_CHECK(
        workers.Apply(Incarnation(entry.index.value()), *admitted).ok());
  } else if (const auto* left = std::get_if<WorkerLeft>(&entry.record)) {
    SKERRY_CHECK(workers.Apply(*left).ok());
  } else if (const auto* marked = std::get_if<WorkerMarked>(&entry.record)) {
    SKERRY_CHECK(workers.Apply(*marked).ok());
    job.places_stale = true;
  } else {
    SKERRY_CHECK(ApplyToJob(job, entry).ok());
  }
  records.push_back(entry);
  return entry.index.value();
}

Incarnation JobBench::AddWorker(const std::string& name,
                                const std::string& island) {
  StatusFacts status;
  status.self = {name, absl::StrCat(name, ":1"), ""};
  status.island = island;
  status.boot = Boot(next_);
  status.counter = 1;
  const Incarnation incarnation(
      Emit(WorkerAdmitted{status.self, status.boot, island, "test"}));
  workers.Heard(status, now);
  job.places_stale = true;
  return incarnation;
}

void JobBench::Size() {
  if (!job.Sized()) Emit(JobSized{job.id, 8 * 4096, 100, 1.0});
}

Life JobBench::AddReplica(const std::string& island,
                          const std::vector<std::string>& names) {
  Size();
  ReplicaAdmitted admitted{
      job.id, job.replicas.NumberOf(island), island, {}, {}};
  const auto parts =
      SplitSpans(job.span_count, static_cast<uint32_t>(names.size()));
  for (size_t rank = 0; rank < names.size(); ++rank) {
    if (workers.FindCurrent(names[rank]) == nullptr) {
      AddWorker(names[rank], island);
    }
    const Worker* worker = workers.FindCurrent(names[rank]);
    admitted.holders.push_back(
        {parts[rank].first, parts[rank].second, worker->self, 0});
    admitted.incarnations.push_back(worker->incarnation);
  }
  const Life life(Emit(admitted));
  for (int round = 0; round < 2; ++round) {
    const data::RangeSet picked = job.ledger.Pick(life, 8 * names.size());
    Emit(Granted{job.id, life, picked});
  }
  for (size_t rank = 0; rank < names.size(); ++rank) {
    JobFacts& facts = Facts(names[rank]);
    facts.life = life;
    facts.state = protocol::SeatState::kActive;
    job.seats[names[rank]].joined = life;
    for (size_t f = 0; f < job.fragments.size(); ++f) {
      FragmentFacts& fragment = Fragment(names[rank], f);
      fragment.span_begin = parts[rank].first;
      fragment.anchor_hashes.assign(parts[rank].second - parts[rank].first, 5);
      fragment.applied = job.fragments[f].newest();
    }
  }
  return life;
}

JobFacts& JobBench::Facts(const std::string& name) {
  const Worker* worker = workers.FindCurrent(name);
  SKERRY_CHECK(worker != nullptr);
  Seat& seat = job.seats[name];
  seat.incarnation = worker->incarnation;
  seat.facts.job = job.id;
  return seat.facts;
}

FragmentFacts& JobBench::Fragment(const std::string& name, uint64_t fragment) {
  JobFacts& facts = Facts(name);
  while (facts.fragments.size() <= fragment) {
    const FragmentId id(facts.fragments.size());
    facts.fragments.emplace_back().fragment = id;
  }
  return facts.fragments[fragment];
}

void JobBench::Offer(const std::string& name, uint64_t round, uint64_t base,
                     data::SampleRange range, uint64_t fragment) {
  Fragment(name, fragment).ready =
      protocol::Contribution{Round(round),
                             Sequence(base),
                             static_cast<double>(range.size()),
                             data::RangeSet(range),
                             {2.0, 2, 1, 1}};
}

void JobBench::Report(const std::string& name, uint64_t hash, uint64_t index) {
  FragmentFacts& fragment = Fragment(name, index);
  const OpenAttempt& open = *job.fragments[index].open();
  fragment.stored = protocol::StoredResult{
      open.opened.sequence, open.attempt,
      std::vector<uint64_t>(fragment.anchor_hashes.size(), hash), 4.0};
}

}  // namespace skerry::coordinator
