#include "tests/sim/check/ledger.h"

#include <cmath>
#include <variant>

#include "absl/strings/str_cat.h"

namespace skerry::sim {

using data::RangeSet;
using data::SampleRange;
using protocol::Member;

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
  const bool jumps =
      std::holds_alternative<coordinator::NumbersRaised>(entry.record);
  const bool next = jumps ? entry.index > last_ : entry.index == Next(last_);
  last_ = entry.index;
  Require(next, "does not follow the record before it");
  std::visit([this](const auto& record) { Take(record); }, entry.record);
  entries_.push_back(entry);
}

void LedgerChecker::OnJournalReplaced(Revision last) {
  const std::vector<coordinator::Entry> all = std::exchange(entries_, {});
  last_ = Revision();
  jobs_.clear();
  boots_.clear();
  owners_.clear();
  for (const coordinator::Entry& entry : all) {
    if (entry.index <= last) OnDurable(entry);
  }
}

Sequence LedgerChecker::Job::State() const {
  uint64_t sum = 0;
  for (const Part& part : parts) sum += part.committed.value();
  return Sequence(sum);
}

void LedgerChecker::Job::Note() {
  std::vector<RangeSet>& all = covered_at[State()];
  all.clear();
  for (const Part& part : parts) all.push_back(part.covered);
}

RangeSet LedgerChecker::Job::Reserved() const {
  RangeSet reserved;
  for (const Part& part : parts) {
    if (!part.open.has_value()) continue;
    for (const Member& member : part.open->second.members) {
      if (current.contains(member.life)) continue;
      reserved = reserved.Union(member.contribution.ranges);
    }
  }
  return reserved;
}

LedgerChecker::Part& LedgerChecker::PartOf(Job& job, FragmentId fragment) {
  const bool there = fragment.value() < job.parts.size();
  Require(there, "a fragment that the job does not have");
  return job.parts[there ? fragment.value() : 0];
}

void LedgerChecker::Take(const coordinator::JobSubmitted& record) {
  Job& job = jobs_[JobId(last_.value())];
  job.spec = record.spec;
  job.parts.resize(job::FragmentCount(record.spec));
}

void LedgerChecker::CheckDelivered(const Job& job) {
  for (size_t f = 0; f < job.parts.size(); ++f) {
    Require(job.parts.size() == 1 || !job.parts[f].open.has_value(),
            "the job succeeded with an open attempt");
    for (const auto& [life, replica] : job.current) {
      const auto it = job.holdings.find(life);
      if (it == job.holdings.end()) continue;
      const auto dropped = it->second.dropped.find(FragmentId(f));
      RangeSet left = it->second.consumed.Subtract(job.parts[f].covered);
      if (dropped != it->second.dropped.end()) {
        left = left.Subtract(dropped->second);
      }
      Require(left.empty(),
              absl::StrCat("the job succeeded and fragment ", f, " lacks ",
                           left.total(), " samples of life ", life.value()));
    }
  }
}

void LedgerChecker::Take(const coordinator::JobEnded& record) {
  Job& job = Find(record.job);
  Require(!job.ended, "the job ended twice");
  job.ended = true;
  if (record.phase == protocol::JobPhase::kSucceeded) {
    const RangeSet all(SampleRange{0, job.spec.training.samples});
    Require(job.consumed == all,
            absl::StrCat("the job succeeded with ", job.consumed.total(),
                         " of ", all.total(), " samples"));
    CheckDelivered(job);
  }
  if (record.phase == protocol::JobPhase::kFailed) {
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
  const auto [owner, fresh] =
      owners_.try_emplace(record.self.worker, record.folder);
  Require(fresh || owner->second == record.folder,
          "another state folder takes the name of worker " +
              record.self.worker + " although the first has not left");
}

void LedgerChecker::Take(const coordinator::WorkerLeft& record) {
  owners_.erase(record.worker);
}

void LedgerChecker::Take(const coordinator::ReplicaAdmitted& record) {
  Job& job = Find(record.job);
  Require(!job.stands, "a life begins although the job stands");
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
  job.holdings.erase(record.life);
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
  Require(job.Reserved().Intersect(granted).empty(),
          "samples that the open attempt names are granted");
  for (const auto& [life, holding] : job.holdings) {
    Require(holding.leased.Intersect(granted).empty(),
            absl::StrCat("samples of life ", life.value(), " are granted"));
  }
  RangeSet& leased = job.holdings[record.life].leased;
  leased = leased.Union(granted);
}

void LedgerChecker::CheckMember(Job& job, const coordinator::Opened& open,
                                const Member& member) {
  const protocol::Contribution& offer = member.contribution;
  const Contributor id{member.life, offer.round};
  const std::string name = absl::StrCat("round ", offer.round.value(),
                                        " of life ", member.life.value(), " ");
  const auto current = job.current.find(member.life);
  Require(current != job.current.end() && current->second == member.replica,
          name + "is named, and its life is not current");
  Require(!job.settled.contains(id), name + "is named after its outcome");
  const auto [offered, fresh] = job.offered.emplace(id, offer);
  Require(fresh || offered->second == offer, name + "has changed");
  const uint64_t bound = job::OuterDelay(job.spec) + job.spec.exchange.carry;
  const uint64_t before = open.sequence.value() - 1;
  Require(offer.base.value() <= before && before - offer.base.value() <= bound,
          absl::StrCat(name, "is from base ", offer.base.value(),
                       ", too stale for ", open.sequence.value()));
  const RangeSet& ranges = offer.ranges;
  Holding& holding = job.holdings[member.life];
  const RangeSet held = holding.leased.Union(holding.consumed)
                            .Subtract(PartOf(job, open.fragment).covered)
                            .Subtract(holding.dropped[open.fragment]);
  Require(held.ContainsAll(ranges),
          name + "covers samples that its life does not hold");
  Require(static_cast<double>(ranges.total()) == offer.weight,
          name + "weighs not what it covers");
}

void LedgerChecker::Take(const coordinator::Opened& record) {
  Job& job = Find(record.job);
  Part& part = PartOf(job, record.fragment);
  part.open.reset();
  if (record.members.empty()) return;
  Require(!job.ended, "an attempt of a job that has ended");
  Require(record.sequence == Next(part.committed), "the sequence jumps");
  std::set<ReplicaId> replicas;
  double weight = 0;
  RangeSet named;
  for (const Member& member : record.members) {
    CheckMember(job, record, member);
    Require(replicas.insert(member.replica).second, "a replica twice");
    const RangeSet& ranges = member.contribution.ranges;
    Require(named.Intersect(ranges).empty(), "two members cover one sample");
    named = named.Union(ranges);
    weight += member.contribution.weight;
  }
  Require(std::abs(weight - record.total_weight) < 1e-6 * (1 + weight),
          "the weights do not add up");
  for (const uint32_t owner : record.owners) {
    Require(owner < record.members.size(), "an owner is no member");
  }
  part.open = {Attempt(last_.value()), record};
}

void LedgerChecker::Take(const coordinator::Dropped& record) {
  Job& job = Find(record.job);
  const Part& part = PartOf(job, record.fragment);
  const Contributor id{record.life, record.round};
  Require(job.settled.insert(id).second, "dropped after its outcome");
  if (part.open.has_value()) {
    for (const Member& member : part.open->second.members) {
      Require(member.life != record.life ||
                  member.contribution.round != record.round,
              "dropped while the open attempt names it");
    }
  }
  const RangeSet ranges(record.ranges);
  Holding& holding = job.holdings[record.life];
  Require(holding.leased.Union(holding.consumed).ContainsAll(ranges),
          "samples return that the life did not hold");
  RangeSet& dropped = holding.dropped[record.fragment];
  dropped = dropped.Union(ranges);
  // Free is what no fragment will take any more.
  RangeSet returned = ranges.Intersect(holding.leased);
  for (size_t f = 0; f < job.parts.size(); ++f) {
    returned = returned.Intersect(holding.dropped[FragmentId(f)]);
  }
  holding.leased = holding.leased.Subtract(returned);
}

void LedgerChecker::Take(const coordinator::Committed& record) {
  Job& job = Find(record.job);
  Part& part = PartOf(job, record.fragment);
  Require(record.sequence == Next(part.committed), "the sequence jumps");
  Require(!job.ended, "a commit of a job that has ended");
  part.committed = record.sequence;
  if (!part.open.has_value() || part.open->first != record.attempt) {
    Require(false, absl::StrCat("attempt ", record.attempt.value(),
                                " is committed and not open"));
    return;
  }
  const coordinator::Opened open = std::move(part.open->second);
  part.open.reset();
  Require(record.hashes.size() == open.owners.size(), "a hash is missing");
  Require(record.total_weight == open.total_weight, "another weight");
  for (const Member& member : open.members) {
    Require(job.settled.emplace(member.life, member.contribution.round).second,
            "a contribution is committed twice");
    const RangeSet& ranges = member.contribution.ranges;
    Require(part.covered.Intersect(ranges).empty(),
            "a sample is committed twice");
    part.covered = part.covered.Union(ranges);
    const RangeSet fresh = ranges.Subtract(job.consumed);
    job.consumed = job.consumed.Union(fresh);
    const auto it = job.holdings.find(member.life);
    if (it == job.holdings.end()) continue;
    it->second.leased = it->second.leased.Subtract(ranges);
    it->second.consumed = it->second.consumed.Union(fresh);
  }
  job.Note();
}

void LedgerChecker::Take(const coordinator::Checkpointed& record) {
  Job& job = Find(record.job);
  if (!record.error.empty()) return;
  if (job.stands) {
    job.saved[record.sequence].assign(job.parts.size(), record.consumed);
    return;
  }
  Require(record.sequence <= job.State(),
          "a state is saved that is not committed");
  const std::vector<RangeSet>& covered = job.covered_at[record.sequence];
  RangeSet consumed;
  for (const RangeSet& one : covered) consumed = consumed.Union(one);
  bool same = consumed == record.consumed;
  for (size_t f = 0; f < record.lacking.size() && f < covered.size(); ++f) {
    same &= consumed.Subtract(covered[f]) == record.lacking[f];
  }
  Require(same, "a checkpoint names other samples than its state has taken in");
  job.saved[record.sequence] = covered;
}

void LedgerChecker::Take(const coordinator::Diverged& record) {
  Job& job = Find(record.job);
  Require(!job.ended && !job.stands, "a job stands twice, or after its end");
  Require(job.current.empty(), "a job with replicas stands");
  job.stands = true;
}

void LedgerChecker::Take(const coordinator::Adopted& record) {
  Job& job = Find(record.job);
  Require(job.stands, "a state is adopted for a job that does not stand");
  Require(record.fragment_sequences.size() == job.parts.size(),
          "a fragment is missing");
  for (size_t f = 0; f < job.parts.size(); ++f) {
    Require(record.fragment_sequences[f] >= job.parts[f].committed,
            "the sequence goes back");
    job.parts[f].committed = record.fragment_sequences[f];
    job.parts[f].open.reset();
  }
  job.stands = false;
  job.holdings.clear();
  job.Note();
}

void LedgerChecker::Take(const coordinator::Restored& record) {
  Job& job = Find(record.job);
  std::vector<Sequence> next = record.fragment_sequences;
  for (size_t f = next.size(); f < job.parts.size(); ++f) {
    next.push_back(Next(job.parts[f].committed));
  }
  uint64_t sum = 0;
  for (size_t f = 0; f < job.parts.size(); ++f) {
    Require(next[f] > job.parts[f].committed, "the sequence goes back");
    sum += next[f].value();
  }
  Require(record.sequence == Sequence(sum), "the sequence jumps");
  Require(record.fragment_sequences.empty() != job.stands,
          "sequences jump although the job does not stand");
  job.stands = false;
  Require(!job.ended, "a job that has ended goes back");
  Require(job.current.empty(), "a job with replicas goes back");
  const bool to_beginning = !record.checkpoint.is_set() && job.saved.empty();
  Require(to_beginning || job.saved.contains(record.checkpoint),
          "a job goes back to a checkpoint that was not saved");
  std::vector<RangeSet> covered = job.saved[record.checkpoint];
  covered.resize(job.parts.size());
  job.consumed = RangeSet();
  for (size_t f = 0; f < job.parts.size(); ++f) {
    job.parts[f].committed = next[f];
    job.parts[f].covered = covered[f];
    job.parts[f].open.reset();
    job.consumed = job.consumed.Union(covered[f]);
  }
  job.holdings.clear();
  job.Note();
}

}  // namespace skerry::sim
