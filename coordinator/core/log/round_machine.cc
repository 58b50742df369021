#include "coordinator/core/log/round_machine.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace skerry::coordinator {
bool SameContributions(const std::vector<Member>& a,
                       const std::vector<Member>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Member& x, const Member& y) {
                      return x.life == y.life &&
                             x.contribution.round == y.contribution.round;
                    });
}

const Member* OpenAttempt::FindLife(Life life) const {
  for (const Member& member : opened.members) {
    if (member.life == life) return &member;
  }
  return nullptr;
}

absl::Status RoundMachine::Apply(Attempt index, const Opened& record) {
  if (record.sequence != Next(newest())) {
    return absl::DataLossError(
        absl::StrCat("an attempt for sequence ", record.sequence.value(),
                     " is opened when ", newest().value(), " is the newest"));
  }
  if (record.members.empty() && !open_.has_value()) {
    return absl::DataLossError("an attempt is closed when none is open");
  }
  if (open_.has_value()) {
    for (const Member& member : open_->opened.members) {
      blamed_.insert(member.replica);
    }
  }
  for (const Member& member : record.members) blamed_.erase(member.replica);
  repeated_members_ = open_.has_value() &&
                      SameContributions(open_->opened.members, record.members);
  for (auto it = ended_members_.begin(); it != ended_members_.end();) {
    bool named = false;
    for (const Member& member : record.members) named |= member.life == *it;
    if (!named) outcomes_.erase(*it);
    it = named ? std::next(it) : ended_members_.erase(it);
  }
  if (open_.has_value()) closed_ = std::exchange(open_, std::nullopt);
  if (record.members.empty()) return absl::OkStatus();
  open_ = OpenAttempt{index, record};
  ++tries_;
  ++attempts_total_;
  return absl::OkStatus();
}

absl::Status RoundMachine::Apply(const Committed& record,
                                 uint64_t samples_committed, uint64_t state) {
  if (!open_.has_value() || open_->attempt != record.attempt ||
      record.sequence != Next(newest())) {
    return absl::DataLossError(
        absl::StrCat("attempt ", record.attempt.value(), " of sequence ",
                     record.sequence.value(), " is committed and is not open"));
  }
  history_.push_back({record.sequence, record.attempt, record.hashes,
                      record.total_weight, samples_committed, record.scalars,
                      state,
                      static_cast<uint32_t>(open_->opened.members.size())});
  for (const Member& member : open_->opened.members) {
    if (ended_members_.contains(member.life)) continue;
    outcomes_[member.life] = {member.contribution.round,
                              Outcome::Kind::kCommitted, record.attempt,
                              record.sequence};
  }
  for (const Life life : ended_members_) outcomes_.erase(life);
  ended_members_.clear();
  closed_ = std::exchange(open_, std::nullopt);
  tries_ = 0;
  repeated_members_ = false;
  blamed_.clear();
  return absl::OkStatus();
}

absl::Status RoundMachine::Apply(const Dropped& record) {
  if (open_.has_value() && open_->FindLife(record.life) != nullptr) {
    return absl::DataLossError(
        absl::StrCat("a contribution of life ", record.life.value(),
                     " is dropped while the open attempt names it"));
  }
  outcomes_[record.life] = {record.round, Outcome::Kind::kDropped, Attempt(),
                            Sequence()};
  ++dropped_total_;
  return absl::OkStatus();
}

void RoundMachine::GoOnAt(Sequence sequence, uint64_t samples_committed,
                          uint64_t state) {
  SKERRY_CHECK(sequence >= newest());
  while (newest() < sequence) {
    floor_ = Next(newest());
    history_.push_back(
        {floor_, Attempt(), {}, 0, samples_committed, {}, state});
  }
  open_.reset();
  tries_ = 0;
  repeated_members_ = false;
  blamed_.clear();
  outcomes_.clear();
  ended_members_.clear();
}

void RoundMachine::Apply(const ReplicaEnded& record) {
  if (open_.has_value() && open_->FindLife(record.life) != nullptr) {
    ended_members_.insert(record.life);
  } else {
    outcomes_.erase(record.life);
  }
}

FragmentSnapshot RoundMachine::Save() const {
  FragmentSnapshot saved;
  saved.fragment = fragment_;
  saved.history = history_;
  if (open_.has_value()) saved.open.emplace(open_->attempt, open_->opened);
  saved.tries = tries_;
  saved.repeated_members = repeated_members_;
  saved.blamed.assign(blamed_.begin(), blamed_.end());
  saved.outcomes.assign(outcomes_.begin(), outcomes_.end());
  saved.ended_members.assign(ended_members_.begin(), ended_members_.end());
  saved.attempts_total = attempts_total_;
  saved.dropped_total = dropped_total_;
  return saved;
}

absl::Status RoundMachine::Restore(const FragmentSnapshot& saved) {
  for (const CommittedEntry& entry : saved.history) {
    if (entry.sequence != Next(newest())) {
      return absl::DataLossError(absl::StrCat("sequence ", newest().value() + 1,
                                              " is missing in the history"));
    }
    history_.push_back(entry);
    if (!entry.attempt.is_set()) floor_ = entry.sequence;
  }
  if (saved.open.has_value()) {
    if (saved.open->second.sequence != Next(newest())) {
      return absl::DataLossError(
          "the open attempt is not for the next sequence");
    }
    open_ = OpenAttempt{saved.open->first, saved.open->second};
  }
  tries_ = saved.tries;
  repeated_members_ = saved.repeated_members;
  blamed_.insert(saved.blamed.begin(), saved.blamed.end());
  outcomes_.insert(saved.outcomes.begin(), saved.outcomes.end());
  ended_members_.insert(saved.ended_members.begin(), saved.ended_members.end());
  attempts_total_ = saved.attempts_total;
  dropped_total_ = saved.dropped_total;
  return absl::OkStatus();
}

std::optional<Outcome> RoundMachine::OutcomeOf(Life life) const {
  const auto it = outcomes_.find(life);
  if (it == outcomes_.end()) return std::nullopt;
  return it->second;
}

data::RangeSet RoundMachine::NamedRanges() const {
  data::RangeSet named;
  if (!open_.has_value()) return named;
  for (const Member& member : open_->opened.members) {
    named = named.Union(member.contribution.ranges);
  }
  return named;
}

void RoundMachine::HashInto(StateHasher& hasher) const {
  hasher.Add(fragment_);
  hasher.Add(newest());
  if (!history_.empty()) {
    const CommittedEntry& last = history_.back();
    hasher.Add(last.attempt);
    for (const uint64_t hash : last.hashes) hasher.Add(hash);
    hasher.Add(last.total_weight);
    hasher.Add(last.samples_committed);
    hasher.Add(last.scalars);
  }
  hasher.Add(open_.has_value() ? open_->attempt : Attempt());
  if (open_.has_value()) {
    for (const Member& member : open_->opened.members) {
      hasher.Add(member.life);
      hasher.Add(member.contribution.round);
      hasher.Add(member.contribution.ranges);
    }
  }
  hasher.Add(uint64_t{tries_});
  hasher.Add(uint64_t{repeated_members_});
  for (const ReplicaId replica : blamed_) hasher.Add(replica);
  for (const auto& [life, outcome] : outcomes_) {
    hasher.Add(life);
    hasher.Add(outcome.round);
    hasher.Add(static_cast<uint64_t>(outcome.kind));
    hasher.Add(outcome.attempt);
    hasher.Add(outcome.sequence);
  }
  for (const Life life : ended_members_) hasher.Add(life);
  hasher.Add(attempts_total_);
  hasher.Add(dropped_total_);
}

}  // namespace skerry::coordinator
