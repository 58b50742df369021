#include "coordinator/core/rules/exchange.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/core/rules/attempt_rules.h"
#include "coordinator/core/rules/codec_plan.h"
#include "coordinator/core/rules/encoded_bytes.h"
#include "coordinator/core/rules/exchange_shape.h"
#include "coordinator/core/rules/expected.h"
#include "coordinator/core/rules/membership.h"
#include "coordinator/core/rules/owner_plan.h"
#include "optimizer/outer/outer.h"
#include "planner/hops.h"

namespace skerry::coordinator {
namespace {

// Why the contribution may not enter the next sequence; empty when it may.
std::string WhyInadmissible(const JobState& job, const RoundMachine& machine,
                            const Replica& replica, const Contribution& c) {
  if (c.base > machine.newest()) {
    return absl::StrCat("its base ", c.base.value(),
                        " is above the newest sequence ",
                        machine.newest().value());
  }
  const uint64_t bound = StalenessMax(job.spec);
  const uint64_t staleness = machine.newest().value() - c.base.value();
  if (staleness > bound) {
    return absl::StrCat("it is ", staleness, " sequences old and at most ",
                        bound, " are allowed");
  }
  if (!job.ledger.Deliverable(replica.life, machine.fragment())
           .ContainsAll(c.ranges)) {
    return "it covers samples that its life does not hold";
  }
  return "";
}

struct Candidate {
  Member member;
  bool suspected = false;
};

// Replicas whose contribution may enter the next sequence, by number.
std::vector<Candidate> Admissible(const JobState& job, const Decider& decider,
                                  const RoundMachine& machine) {
  std::vector<Candidate> found;
  for (const auto& [life, replica] : job.replicas.current()) {
    const Offer offer = OfferOf(job, replica, machine);
    if (offer.kind != Offer::Kind::kComplete) continue;
    if (!WhyInadmissible(job, machine, replica, offer.contribution).empty()) {
      continue;
    }
    found.push_back(
        {{replica.replica, life, offer.contribution, replica.holders},
         IsSuspected(replica, decider.workers)});
  }
  std::sort(found.begin(), found.end(),
            [](const Candidate& a, const Candidate& b) {
              return a.member.replica < b.member.replica;
            });
  return found;
}

std::vector<Member> MembersOf(const std::vector<Candidate>& candidates,
                              const absl::btree_set<ReplicaId>& without) {
  std::vector<Member> members;
  for (const Candidate& candidate : candidates) {
    if (candidate.suspected || without.contains(candidate.member.replica)) {
      continue;
    }
    members.push_back(candidate.member);
  }
  return members;
}

std::string ReplicaNames(const std::vector<Member>& members) {
  std::string names;
  for (const Member& member : members) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", member.replica.value());
  }
  return names;
}

// Keeps at most `members_max` members: those whose contributions have the
// oldest bases, in the order of their replicas.
void KeepOldest(std::vector<Member>& members, size_t members_max) {
  if (members.size() <= members_max) return;
  std::stable_sort(members.begin(), members.end(),
                   [](const Member& a, const Member& b) {
                     return a.contribution.base < b.contribution.base;
                   });
  members.resize(members_max);
  std::sort(
      members.begin(), members.end(),
      [](const Member& a, const Member& b) { return a.replica < b.replica; });
}

// Whether the attempt has two members that store less after two hops. They send
// as many bytes as in one.
bool StoresLessInTwoHops(const JobState& job, const Opened& opened) {
  if (opened.members.size() != 2 || !IsUncoded(job.spec.exchange.codec)) {
    return false;
  }
  uint64_t elements = 0;
  for (const uint64_t span : SpansOf(job, opened)) elements += span;
  const std::optional<absl::Duration> round_trip =
      LongestRoundTrip(job, opened.members);
  return round_trip.has_value() &&
         planner::TwoMembersTakeTwoHops(
             static_cast<double>(elements * sizeof(float)), job.span_count,
             *round_trip);
}

void Open(JobState& job, const Decider& decider, size_t fragment,
          std::vector<Member> members, std::string reason) {
  KeepOldest(members, decider.options.members_max);
  const RoundMachine& machine = job.fragments[fragment];
  Opened opened;
  opened.job = job.id;
  opened.fragment = machine.fragment();
  opened.sequence = Next(machine.newest());
  // Owners and codecs are chosen for the hops, so the hops are chosen first, as
  // for contributions and results of equal size.
  const auto count = static_cast<uint32_t>(members.size());
  const int hops = planner::ChooseHops(count, 1, 1).hops;
  for (const Member& member : members) {
    opened.total_weight += member.contribution.weight;
  }
  opened.members = std::move(members);
  opened.hops =
      hops == 2 || StoresLessInTwoHops(job, opened) ? Hops::kTwo : Hops::kOne;
  PlanOwners(job, fragment, opened);
  PlanCodecs(job, fragment, opened);
  const MeanBytes bytes = MeanEncodedBytes(opened, ElementsOf(job, fragment));
  opened.reason = absl::StrCat(
      reason, "; members ", ReplicaNames(opened.members), "; ",
      planner::DescribeHops(hops, count, bytes.contribution, bytes.result)
          .reason,
      opened.reason);
  const absl::Duration predicted = PredictedTime(job, opened);
  decider.emit(std::move(opened));
  job.timers[fragment].OnOpened(job.fragments[fragment].tries(), predicted,
                                decider.now);
}

std::vector<MemberReport> ReportsOf(const JobState& job, const Decider& decider,
                                    const RoundMachine& machine) {
  std::vector<MemberReport> reports;
  const OpenAttempt& open = *machine.open();
  for (const Member& member : open.opened.members) {
    MemberReport report;
    report.replica = member.replica;
    report.hashes.resize(job.span_count);
    const Replica* replica = job.replicas.Find(member.life);
    report.current = replica != nullptr;
    if (replica != nullptr) {
      report.suspected = IsSuspected(*replica, decider.workers);
      for (size_t rank = 0; rank < replica->holders.size(); ++rank) {
        const FragmentFacts* facts =
            FactsInLife(job, *replica, rank, machine.fragment());
        if (facts == nullptr) continue;
        if (!facts->progress.empty()) {
          report.received.push_back(facts->progress);
        }
        const SpanHolder& holder = replica->holders[rank];
        if (!facts->stored.has_value() ||
            facts->stored->attempt != open.attempt ||
            facts->stored->sequence != open.opened.sequence ||
            facts->stored->hashes.size() !=
                holder.span_end - holder.span_begin) {
          continue;
        }
        for (uint32_t i = 0; i < facts->stored->hashes.size(); ++i) {
          report.hashes[holder.span_begin + i] = facts->stored->hashes[i];
        }
      }
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

// Squared norm of the result, from the first member that reported all of it.
double ResultSquaredNorm(const JobState& job, const RoundMachine& machine,
                         const std::vector<MemberReport>& reports) {
  const OpenAttempt& open = *machine.open();
  for (size_t i = 0; i < reports.size(); ++i) {
    const Replica* replica = job.replicas.Find(open.opened.members[i].life);
    if (replica == nullptr || !reports[i].Complete()) continue;
    double sum = 0;
    for (size_t rank = 0; rank < replica->holders.size(); ++rank) {
      const FragmentFacts* facts =
          FactsInLife(job, *replica, rank, machine.fragment());
      if (facts != nullptr && facts->stored.has_value()) {
        sum += facts->stored->squared_norm;
      }
    }
    return sum;
  }
  return 0;
}

void Commit(JobState& job, const Decider& decider, size_t fragment,
            const std::vector<MemberReport>& reports,
            std::vector<uint64_t> hashes) {
  const RoundMachine& machine = job.fragments[fragment];
  const Opened& opened = machine.open()->opened;
  Committed commit;
  commit.job = job.id;
  commit.fragment = machine.fragment();
  commit.sequence = opened.sequence;
  commit.attempt = machine.open()->attempt;
  commit.hashes = std::move(hashes);
  commit.total_weight = opened.total_weight;
  double measured = 0;
  for (const Member& member : opened.members) {
    const Contribution& contribution = member.contribution;
    if (!contribution.scalars.no_loss) measured += contribution.weight;
  }
  commit.scalars.no_loss = measured == 0;
  double weighted_squared = 0;
  for (const Member& member : opened.members) {
    const RoundScalars& part = member.contribution.scalars;
    weighted_squared += member.contribution.weight * part.delta_squared_norm;
    if (!part.no_loss) {
      commit.scalars.loss +=
          part.loss * (member.contribution.weight / measured);
    }
    commit.scalars.inner_steps =
        std::max(commit.scalars.inner_steps, part.inner_steps);
    commit.scalars.compute_s =
        std::max(commit.scalars.compute_s, part.compute_s);
    commit.scalars.late_steps +=
        part.late_steps * (member.contribution.weight / opened.total_weight);
  }
  commit.scalars.delta_squared_norm = ResultSquaredNorm(job, machine, reports);
  commit.scalars.own_share = optimizer::OwnShare(
      commit.scalars.delta_squared_norm, opened.total_weight, weighted_squared);
  decider.emit(std::move(commit));
  const absl::Duration took = job.timers[fragment].OnCommitted(decider.now);
  job.owner_holds[fragment].OnCommitted(took);
}

// The next attempt without those that are blamed (PROTOCOL 5.3).
void Retry(JobState& job, const Decider& decider, size_t fragment,
           const Blame& blame) {
  const RoundMachine& machine = job.fragments[fragment];
  const std::vector<Candidate> candidates = Admissible(job, decider, machine);
  absl::btree_set<ReplicaId> without = machine.blamed();
  without.insert(blame.replicas.begin(), blame.replicas.end());
  std::string reason = blame.reason;
  std::vector<Member> members = MembersOf(candidates, without);
  const size_t least = std::max<size_t>(1, job.spec.exchange.min_replicas);
  if (members.size() < least) {
    members = MembersOf(candidates, {});
    absl::StrAppend(&reason, "; nobody else is left, so all are forgiven");
  }
  const Opened& before = machine.open()->opened;
  if (members.size() == 1 && SameContributions(members, before.members)) {
    job.timers[fragment].Extend(machine.tries(), decider.now);
    return;
  }
  if (members.size() < least) {
    decider.emit(
        Opened{job.id,
               machine.fragment(),
               before.sequence,
               {},
               {},
               before.hops,
               0,
               absl::StrCat(blame.reason, "; closed until enough are ready")});
    job.timers[fragment].OnClosed();
    return;
  }
  Open(job, decider, fragment, std::move(members), std::move(reason));
}

void SettleDisagreement(JobState& job, const Decider& decider, size_t fragment,
                        const AttemptVerdict& verdict) {
  const RoundMachine& machine = job.fragments[fragment];
  const bool tie = verdict.sets[0].size() == verdict.sets[1].size();
  const std::string what =
      absl::StrCat("results of span ", verdict.span, " disagree");
  if (tie && !machine.repeated_members()) {
    const auto candidates = Admissible(job, decider, machine);
    std::vector<Member> members;
    for (const Candidate& candidate : candidates) {
      if (machine.open()->FindLife(candidate.member.life) != nullptr) {
        members.push_back(candidate.member);
      }
    }
    if (SameContributions(members, machine.open()->opened.members)) {
      Open(job, decider, fragment, std::move(members),
           absl::StrCat(what, " with equal numbers; again with other owners"));
      return;
    }
  }
  Blame blame;
  for (size_t i = 1; i < verdict.sets.size(); ++i) {
    blame.replicas.insert(verdict.sets[i].begin(), verdict.sets[i].end());
  }
  blame.reason = absl::StrCat(
      what, tie ? " again; those without the lowest replica are left out"
                : "; the smaller sets are left out");
  for (const Member& member : machine.open()->opened.members) {
    if (blame.replicas.contains(member.replica) &&
        job.replicas.Find(member.life) != nullptr) {
      EndLife(job, decider, member.life, blame.reason);
    }
  }
  Retry(job, decider, fragment, blame);
}

void JudgeOpen(JobState& job, const Decider& decider, size_t fragment) {
  const RoundMachine& machine = job.fragments[fragment];
  RoundTimers& timers = job.timers[fragment];
  const std::vector<MemberReport> reports = ReportsOf(job, decider, machine);
  absl::btree_set<ReplicaId> troubled;
  for (const MemberReport& report : reports) {
    if (report.current && !report.suspected) continue;
    if (report.Complete() || IsNoLongerNeeded(reports, report.replica)) {
      continue;
    }
    troubled.insert(report.replica);
  }
  // When all are silent at once, the fault is not theirs.
  if (troubled.size() == reports.size()) troubled.clear();
  timers.Trouble(troubled, decider.now);
  const AttemptVerdict verdict =
      JudgeAttempt(reports, job.span_count, timers.Deadline() <= decider.now);
  switch (verdict.kind) {
    case AttemptVerdict::Kind::kWait:
      return;
    case AttemptVerdict::Kind::kCommit:
      Commit(job, decider, fragment, reports, verdict.hashes);
      return;
    case AttemptVerdict::Kind::kDisagree:
      SettleDisagreement(job, decider, fragment, verdict);
      return;
    case AttemptVerdict::Kind::kExpired:
      if (timers.Reconsider(machine.tries(),
                            PredictedTime(job, machine.open()->opened),
                            decider.now)) {
        return;
      }
      Retry(job, decider, fragment, ChooseBlame(reports));
      return;
  }
}

void MaybeOpen(JobState& job, const Decider& decider, size_t fragment) {
  const RoundMachine& machine = job.fragments[fragment];
  RoundTimers& timers = job.timers[fragment];
  std::vector<Member> members =
      MembersOf(Admissible(job, decider, machine), {});
  const Expected expected = CountExpected(job, decider, machine);
  const auto quorum = static_cast<size_t>(std::ceil(
      job.spec.exchange.quorum * static_cast<double>(expected.replicas)));
  const bool enough =
      members.size() >= std::max<size_t>(1, job.spec.exchange.min_replicas);
  timers.Window(enough, enough && members.size() >= quorum, decider.now);
  if (!enough || AwaitsJoiner(job, decider.options, decider.now)) return;
  std::string reason;
  if (members.size() >= expected.replicas) {
    reason = "every replica is ready";
    if (expected.newcomers > 0) {
      absl::StrAppend(&reason, " but ", expected.newcomers,
                      " that just joined");
    }
  } else if (timers.GraceOver(decider.now)) {
    reason = absl::StrCat(members.size(), " of ", expected.replicas,
                          " replicas are ready and the grace is over");
  } else if (timers.MaxWaitOver(decider.now)) {
    reason = absl::StrCat(members.size(), " of ", expected.replicas,
                          " replicas are ready and the longest wait is over");
  } else {
    return;
  }
  Open(job, decider, fragment, std::move(members), std::move(reason));
}

void DropStale(JobState& job, const Decider& decider, size_t fragment) {
  std::vector<Dropped> drops;
  std::vector<Life> conflicts;
  const RoundMachine& machine = job.fragments[fragment];
  for (const auto& [life, replica] : job.replicas.current()) {
    const Offer offer = OfferOf(job, replica, machine);
    if (offer.kind == Offer::Kind::kConflict) conflicts.push_back(life);
    if (offer.kind != Offer::Kind::kComplete) continue;
    job.timers[fragment].OnReady(
        life, offer.contribution.round,
        absl::Seconds(offer.contribution.scalars.compute_s), decider.now);
    if (machine.open().has_value() &&
        machine.open()->FindLife(life) != nullptr) {
      continue;
    }
    std::string why =
        WhyInadmissible(job, machine, replica, offer.contribution);
    if (why.empty()) continue;
    const data::RangeSet held = job.ledger.Deliverable(life, machine.fragment())
                                    .Intersect(offer.contribution.ranges);
    drops.push_back({job.id, machine.fragment(), life, offer.contribution.round,
                     std::move(why), held});
  }
  for (Dropped& drop : drops) decider.emit(std::move(drop));
  for (const Life life : conflicts) {
    EndLife(job, decider, life,
            "its workers report different contributions under one round");
  }
}

}  // namespace

namespace {

void FindWanted(JobState& job) {
  absl::btree_set<std::pair<Life, FragmentId>> wanted;
  for (const auto& [life, replica] : job.replicas.current()) {
    for (const RoundMachine& machine : job.fragments) {
      if (!IsWanted(job, replica, machine)) continue;
      wanted.insert({life, machine.fragment()});
      if (job.wanted.contains({life, machine.fragment()})) continue;
      for (const SpanHolder& holder : replica.holders) {
        job.touched.insert(holder.peer.worker);
      }
    }
  }
  job.wanted = std::move(wanted);
}

}  // namespace

void DecideExchange(JobState& job, const Decider& decider) {
  if (!job.Sized()) return;
  for (size_t fragment = 0; fragment < job.fragments.size(); ++fragment) {
    DropStale(job, decider, fragment);
    if (job.fragments[fragment].open().has_value()) {
      JudgeOpen(job, decider, fragment);
    } else {
      MaybeOpen(job, decider, fragment);
    }
  }
  FindWanted(job);
}

void CollectExchange(const JobState& job, Earliest& earliest) {
  for (size_t i = 0; i < job.fragments.size(); ++i) {
    job.timers[i].Collect(job.fragments[i].open().has_value(), earliest);
  }
}

}  // namespace skerry::coordinator
