#include "tests/sim/check/ledger.h"

#include <cmath>
#include <variant>

#include "absl/strings/str_cat.h"

namespace skerry::sim {

using coordinator::Member;
using data::RangeSet;
using data::SampleRange;

void LedgerChecker::Require(bool holds, const std::string& what) {
  if (!holds) {
    out_.Add(absl::StrCat("ledger: record ", last_.value(), ": ", what));
  }
}

LedgerChecker::Job& LedgerChecker::Find(JobId id) {
  Require(jobs_.contains(id), absl::StrCat("job ", id.value(), " is unknown"));
  return jobs_[id];
}

void LedgerChecker::OnDurable(const coordinator::Entry& entry) {
  const bool next = entry.index == Next(last_);
  last_ = entry.index;
  Require(next, "does not follow the record before it");
  std::visit([this](const auto& record) { Take(record); }, entry.record);
}

void LedgerChecker::Take(const coordinator::JobSubmitted& record) {
  jobs_[JobId(last_.value())].spec = record.spec;
}

void LedgerChecker::Take(const coordinator::JobEnded& record) {
  Job& job = Find(record.job);
  Require(!job.ended, "the job ended twice");
  job.ended = true;
  if (record.phase == coordinator::JobPhase::kSucceeded) {
    const RangeSet all(SampleRange{0, job.spec.training.samples});
    Require(job.consumed == all,
            absl::StrCat("the job succeeded with ", job.consumed.total(),
                         " of ", all.total(), " samples"));
  }
  if (record.phase == coordinator::JobPhase::kFailed) {
    out_.Add("liveness: the job failed: " + record.reason);
  }
}

void LedgerChecker::Take(const coordinator::JobDeleted& record) {
  Require(Find(record.job).ended, "a job was deleted that had not ended");
  jobs_.erase(record.job);
}

void LedgerChecker::Take(const coordinator::WorkerAdmitted& record) {
  Require(boots_.emplace(record.self.worker, record.boot).second,
          "a boot of worker " + record.self.worker + " was admitted twice");
}

void LedgerChecker::Take(const coordinator::ReplicaAdmitted& record) {
  Job& job = Find(record.job);
  for (const auto& [life, replica] : job.current) {
    Require(replica != record.replica,
            absl::StrCat("replica ", replica.value(), " has life ",
                         life.value(), " already"));
  }
  job.current[Life(last_.value())] = record.replica;
}

void LedgerChecker::Take(const coordinator::ReplicaEnded& record) {
  Job& job = Find(record.job);
  Require(job.current.erase(record.life) > 0,
          absl::StrCat("life ", record.life.value(), " is not current"));
  RangeSet named;
  if (job.open.has_value()) {
    for (const Member& member : job.open->second.members) {
      if (member.life == record.life) {
        named = named.Union(RangeSet(member.contribution.ranges));
      }
    }
  }
  job.reserved = job.reserved.Union(named);
  job.leased.erase(record.life);
}

void LedgerChecker::Take(const coordinator::Granted& record) {
  Job& job = Find(record.job);
  const RangeSet granted(record.ranges);
  Require(job.current.contains(record.life), "a grant to no current life");
  Require(
      RangeSet(SampleRange{0, job.spec.training.samples}).ContainsAll(granted),
      "samples outside the job are granted");
  Require(job.consumed.Intersect(granted).empty(),
          "samples that are in the model are granted");
  Require(job.reserved.Intersect(granted).empty(),
          "samples that the open attempt names are granted");
  for (const auto& [life, leased] : job.leased) {
    Require(leased.Intersect(granted).empty(),
            absl::StrCat("samples of life ", life.value(), " are granted"));
  }
  job.leased[record.life] = job.leased[record.life].Union(granted);
}

void LedgerChecker::CheckMember(Job& job, const coordinator::Opened& open,
                                const Member& member) {
  const coordinator::Contribution& offer = member.contribution;
  const Contributor id{member.life, offer.round};
  const std::string name = absl::StrCat("round ", offer.round.value(),
                                        " of life ", member.life.value(), " ");
  const auto current = job.current.find(member.life);
  Require(current != job.current.end() && current->second == member.replica,
          name + "is named, and its life is not current");
  Require(!job.settled.contains(id), name + "is named after its outcome");
  const auto [offered, fresh] = job.offered.emplace(id, offer);
  Require(fresh || offered->second == offer, name + "has changed");
  const uint64_t bound =
      coordinator::OuterDelay(job.spec) + job.spec.exchange.carry.value_or(2);
  const uint64_t before = open.sequence.value() - 1;
  Require(offer.base.value() <= before && before - offer.base.value() <= bound,
          absl::StrCat(name, "is from base ", offer.base.value(),
                       ", too stale for ", open.sequence.value()));
  const RangeSet ranges(offer.ranges);
  Require(job.leased[member.life].ContainsAll(ranges),
          name + "covers samples that its life does not hold");
  Require(static_cast<double>(ranges.total()) == offer.weight,
          name + "weighs not what it covers");
}

void LedgerChecker::Take(const coordinator::Opened& record) {
  Job& job = Find(record.job);
  // Samples of ended lives stay reserved while the attempt names them; nobody
  // ended is named by a new one.
  job.reserved = RangeSet();
  job.open.reset();
  if (record.members.empty()) return;
  Require(!job.ended, "an attempt of a job that has ended");
  Require(record.sequence == Next(job.committed), "the sequence jumps");
  std::set<ReplicaId> replicas;
  double weight = 0;
  RangeSet named;
  for (const Member& member : record.members) {
    CheckMember(job, record, member);
    Require(replicas.insert(member.replica).second, "a replica twice");
    const RangeSet ranges(member.contribution.ranges);
    Require(named.Intersect(ranges).empty(), "two members cover one sample");
    named = named.Union(ranges);
    weight += member.contribution.weight;
  }
  Require(std::abs(weight - record.total_weight) < 1e-6 * (1 + weight),
          "the weights do not add up");
  for (const uint32_t owner : record.owners) {
    Require(owner < record.members.size(), "an owner is no member");
  }
  job.open = {Attempt(last_.value()), record};
}

void LedgerChecker::Take(const coordinator::Dropped& record) {
  Job& job = Find(record.job);
  const Contributor id{record.life, record.round};
  Require(job.settled.insert(id).second, "dropped after its outcome");
  if (job.open.has_value()) {
    for (const Member& member : job.open->second.members) {
      Require(member.life != record.life ||
                  member.contribution.round != record.round,
              "dropped while the open attempt names it");
    }
  }
  const RangeSet ranges(record.ranges);
  Require(job.leased[record.life].ContainsAll(ranges),
          "samples return that the life did not hold");
  job.leased[record.life] = job.leased[record.life].Subtract(ranges);
}

void LedgerChecker::Take(const coordinator::Committed& record) {
  Job& job = Find(record.job);
  Require(record.sequence == Next(job.committed), "the sequence jumps");
  Require(!job.ended, "a commit of a job that has ended");
  job.committed = record.sequence;
  if (!job.open.has_value() || job.open->first != record.attempt) {
    Require(false, absl::StrCat("attempt ", record.attempt.value(),
                                " is committed and not open"));
    return;
  }
  const coordinator::Opened open = std::exchange(job.open, {})->second;
  Require(record.hashes.size() == open.owners.size(), "a hash is missing");
  Require(record.total_weight == open.total_weight, "another weight");
  for (const Member& member : open.members) {
    Require(job.settled.emplace(member.life, member.contribution.round).second,
            "a contribution is committed twice");
    const RangeSet ranges(member.contribution.ranges);
    Require(job.consumed.Intersect(ranges).empty(),
            "a sample is committed twice");
    job.consumed = job.consumed.Union(ranges);
    if (job.leased.contains(member.life)) {
      job.leased[member.life] = job.leased[member.life].Subtract(ranges);
    }
  }
  job.reserved = RangeSet();
  job.consumed_at[job.committed] = job.consumed;
}

void LedgerChecker::Take(const coordinator::Checkpointed& record) {
  Job& job = Find(record.job);
  if (!record.error.empty()) return;
  Require(record.sequence <= job.committed,
          "a state is saved that is not committed");
  const RangeSet consumed(record.consumed);
  Require(job.consumed_at[record.sequence] == consumed,
          "a checkpoint names other samples than its state has taken in");
  job.saved[record.sequence] = consumed;
}

void LedgerChecker::Take(const coordinator::Restored& record) {
  Job& job = Find(record.job);
  Require(record.sequence == Next(job.committed), "the sequence jumps");
  Require(!job.ended, "a job that has ended goes back");
  Require(job.current.empty(), "a job with replicas goes back");
  Require(job.saved.contains(record.checkpoint),
          "a job goes back to a checkpoint that was not saved");
  job.committed = record.sequence;
  job.consumed = job.saved[record.checkpoint];
  job.consumed_at[job.committed] = job.consumed;
  job.leased.clear();
  job.reserved = RangeSet();
  job.open.reset();
}

}  // namespace skerry::sim
