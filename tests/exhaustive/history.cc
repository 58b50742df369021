#include "tests/exhaustive/history.h"

#include <algorithm>
#include <set>
#include <variant>

#include "tests/exhaustive/hashes.h"

namespace skerry::exhaustive {
namespace {

using coordinator::Committed;
using coordinator::Opened;
using protocol::FragmentFacts;
using protocol::Member;
using protocol::SpanHolder;

bool SameContributions(const Opened& a, const Opened& b) {
  return std::equal(a.members.begin(), a.members.end(), b.members.begin(),
                    b.members.end(), [](const Member& x, const Member& y) {
                      return x.life == y.life &&
                             x.contribution.round == y.contribution.round;
                    });
}

}  // namespace

History::History(const Scenario& scenario, sim::Violations& found)
    : scenario_(&scenario), found_(&found), parts_(scenario.fragments) {
  BeginWith(0);
  for (Part& part : parts_) part.anchors.push_back(part.beginning);
  NoteState();
}

void History::BeginWith(uint64_t initial_hash) {
  for (uint32_t f = 0; f < parts_.size(); ++f) {
    parts_[f].beginning.clear();
    for (uint32_t span = 0; span < scenario_->spans; ++span) {
      parts_[f].beginning.push_back(InitialAnchor(initial_hash, f, span));
    }
  }
}

void History::NoteState() {
  uint64_t sum = 0;
  std::vector<Sequence> at;
  for (uint32_t f = 0; f < parts_.size(); ++f) {
    at.push_back(Newest(f));
    sum += at.back().value();
  }
  states_[Sequence(sum)] = std::move(at);
}

bool History::IsOpen(uint32_t fragment, Attempt attempt) const {
  const auto& open = parts_[fragment].open;
  return open.has_value() && open->first == attempt;
}

std::optional<bool> History::FateOf(uint32_t fragment, Life life,
                                    Round round) const {
  const auto fate = fates_.find({fragment, life, round});
  if (fate == fates_.end()) return std::nullopt;
  return fate->second;
}

void History::OnSaid(const protocol::StatusFacts& status) {
  protocol::StatusFacts& said = said_[status.self.worker];
  if (said.boot == status.boot && status.counter < said.counter) return;
  said = status;
}

void History::OnRecord(const coordinator::Entry& entry) {
  if (const auto* open = std::get_if<Opened>(&entry.record)) {
    Take(Attempt(entry.index.value()), *open);
  } else if (const auto* commit = std::get_if<Committed>(&entry.record)) {
    Take(*commit);
  } else if (const auto* drop =
                 std::get_if<coordinator::Dropped>(&entry.record)) {
    fates_[{drop->fragment.value(), drop->life, drop->round}] = false;
  } else if (const auto* back =
                 std::get_if<coordinator::Restored>(&entry.record)) {
    Take(*back);
  } else if (const auto* sized =
                 std::get_if<coordinator::JobSized>(&entry.record)) {
    BeginWith(sized->initial_hash);
    for (Part& part : parts_) part.anchors.front() = part.beginning;
  } else if (const auto* begun =
                 std::get_if<coordinator::ReplicaAdmitted>(&entry.record)) {
    lives_[Life(entry.index.value())] = begun->replica;
  } else if (const auto* over =
                 std::get_if<coordinator::ReplicaEnded>(&entry.record)) {
    lives_.erase(over->life);
  } else if (const auto* saved =
                 std::get_if<coordinator::Checkpointed>(&entry.record)) {
    if (saved->error.empty() && !saved_.contains(saved->sequence)) {
      Break("a checkpoint is listed that is not whole");
    }
  } else if (const auto* end =
                 std::get_if<coordinator::JobEnded>(&entry.record)) {
    ended_ = true;
    succeeded_ = end->phase == protocol::JobPhase::kSucceeded;
  }
}

void History::Take(Attempt index, const Opened& record) {
  Part& part = parts_[record.fragment.value()];
  const auto before = std::exchange(part.open, std::nullopt);
  if (record.members.empty()) return;
  const bool same =
      before.has_value() && SameContributions(before->second, record);
  part.repeated = same ? part.repeated + 1 : 0;
  // What has failed would fail again, and a tie is tried once more.
  if (same && before->second.owners == record.owners) {
    Break("5.3: an attempt is repeated as it was");
  } else if (part.repeated > 1) {
    Break("5.3: a tie is tried more than once again");
  }
  part.open = {index, record};
}

void History::Take(const Committed& record) {
  const auto fragment = static_cast<uint32_t>(record.fragment.value());
  Part& part = parts_[fragment];
  if (!IsOpen(fragment, record.attempt)) {
    return Break("A9: what is committed was not open");
  }
  const Opened open = std::move(part.open->second);
  part.open.reset();
  CheckCommit(record, open);
  std::vector<uint64_t> next;
  for (uint32_t span = 0; span < record.hashes.size(); ++span) {
    next.push_back(
        FoldAnchor(part.anchors.back().at(span), record.hashes[span]));
  }
  part.anchors.push_back(std::move(next));
  part.commits[record.sequence] = record;
  ++commits_;
  NoteState();
  for (const Member& member : open.members) {
    fates_[{fragment, member.life, member.contribution.round}] = true;
  }
}

// All fragments together (PROTOCOL 5.6).
void History::Take(const coordinator::Restored& record) {
  const auto from = saved_.find(record.checkpoint);
  if (record.checkpoint.is_set() && from == saved_.end()) {
    return Break("the job goes back to a state that was not saved");
  }
  if (record.initial_hash != 0) BeginWith(record.initial_hash);
  for (uint32_t f = 0; f < parts_.size(); ++f) {
    Part& part = parts_[f];
    const std::vector<uint64_t> state =
        record.checkpoint.is_set() ? from->second.anchors[f] : part.beginning;
    part.anchors.push_back(state);
    part.floor = Newest(f);
    part.open.reset();
  }
  NoteState();
}

const FragmentFacts* History::SaidBy(const std::string& worker, Life life,
                                     FragmentId fragment) const {
  const auto status = said_.find(worker);
  if (status == said_.end()) return nullptr;
  for (const protocol::JobFacts& job : status->second.jobs) {
    if (job.life != life) continue;
    for (const FragmentFacts& facts : job.fragments) {
      if (facts.fragment == fragment) return &facts;
    }
  }
  return nullptr;
}

History::Reports History::ReportsOf(Attempt attempt, const Opened& open,
                                    uint32_t span) const {
  Reports reports;
  for (const Member& member : open.members) {
    if (!lives_.contains(member.life)) continue;
    ++reports.current;
    for (const SpanHolder& holder : member.holders) {
      if (span < holder.span_begin || span >= holder.span_end) continue;
      const FragmentFacts* facts =
          SaidBy(holder.peer.worker, member.life, open.fragment);
      if (facts == nullptr || !facts->stored.has_value() ||
          facts->stored->attempt != attempt) {
        continue;
      }
      reports.hashes[member.replica] =
          facts->stored->hashes.at(span - facts->span_begin);
    }
  }
  return reports;
}

// PROTOCOL 5.3: not one of the largest set of those that have one hash, nor, of
// equal ones, of the set with the lowest replica.
void History::OnJudged(Life life) const {
  for (const Part& part : parts_) {
    if (!part.open.has_value()) continue;
    const auto& [attempt, open] = *part.open;
    for (uint32_t span = 0; span < open.owners.size(); ++span) {
      const Reports reports = ReportsOf(attempt, open, span);
      const auto own = reports.hashes.find(lives_.at(life));
      if (own == reports.hashes.end()) continue;
      // In the order of their lowest replicas.
      uint64_t right = reports.hashes.begin()->second;
      size_t most = 0;
      for (const auto& [replica, hash] : reports.hashes) {
        const auto same = static_cast<size_t>(std::count_if(
            reports.hashes.begin(), reports.hashes.end(),
            [&, of = hash](const auto& one) { return one.second == of; }));
        if (same > most) right = hash;
        most = std::max(most, same);
      }
      if (own->second != right) return;
    }
  }
  Break("5.3: a life is ended that was right");
}

// PROTOCOL 5.2, from what the coordinator has heard.
void History::CheckCommit(const Committed& record, const Opened& open) const {
  for (uint32_t span = 0; span < record.hashes.size(); ++span) {
    const uint64_t hash = record.hashes[span];
    const uint64_t sum = ResultHash(record.attempt, open.members, span);
    const bool lied = scenario_->budget.lies > 0 && hash == WrongHash(sum);
    if (hash != sum && !lied) {
      Break("A2: what is committed is not the sum over the members");
    }
    const Reports reports = ReportsOf(record.attempt, open, span);
    std::set<uint64_t> hashes;
    for (const auto& [replica, one] : reports.hashes) hashes.insert(one);
    if (hashes.empty()) {
      Break("5.2: no member of a current life has reported a span");
    } else if (hashes.size() > 1) {
      Break("5.2: a commit while two hashes stand");
    } else if (!hashes.contains(hash)) {
      Break("5.2: another hash is committed than was reported");
    }
    const size_t reported = reports.hashes.size();
    if (reported < reports.current && 2 * reported <= open.members.size()) {
      Break("5.2: a commit without a majority");
    }
  }
}

}  // namespace skerry::exhaustive
