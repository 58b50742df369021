// What may happen in an exchange, and what tells two states of it apart.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/hash.h"
#include "tests/exhaustive/frame_model.h"

namespace skerry::exhaustive {
namespace {

using protocol::Member;
using protocol::OpenExchange;
using Act = FrameStep::Act;

constexpr const char* kNames[] = {"frame", "again",  "work",   "hear",
                                  "wait",  "reopen", "commit", "kill"};

}  // namespace

bool FrameModel::IsFault(const FrameStep& step) {
  return step.act == Act::kAgain || step.act == Act::kKill ||
         (step.act == Act::kCommit && step.at > 0);
}

std::string FrameModel::ToText(const FrameStep& step) {
  return absl::StrCat(kNames[static_cast<int>(step.act)], " ", step.index, " ",
                      step.at);
}

std::vector<FrameStep> FrameModel::Actions(bool with_faults) const {
  std::vector<FrameStep> steps;
  const size_t revision = attempts_.size() + (committed_.has_value() ? 1 : 0);
  for (size_t i = 0; i < hosts_.size(); ++i) {
    if (!IsUp(i)) continue;
    if (hosts_[i].heard != revision) steps.push_back({Act::kHear, i});
    const size_t work = hosts_[i].worker->Work().size();
    for (size_t at = 0; at < work; ++at) steps.push_back({Act::kWork, i, at});
  }
  AddFrames(with_faults, steps);
  AddDecisions(with_faults, steps);
  if (!with_faults || left_.kills == 0) return steps;
  for (uint32_t replica = 0; replica < replicas(); ++replica) {
    if (IsAlive(replica)) steps.push_back({Act::kKill, replica});
  }
  return steps;
}

// Its receiver has heard of a newer attempt.
bool FrameModel::IsStale(const OnWay& one) const {
  return Attempt(one.frame.header.attempt) <
         hosts_[IndexOf(one.frame.to)].attempt;
}

void FrameModel::AddFrames(bool with_faults, std::vector<FrameStep>& to) const {
  for (size_t i = 0; i < on_way_.size(); ++i) {
    const size_t receiver = IndexOf(on_way_[i].frame.to);
    const Attempt attempt(on_way_[i].frame.header.attempt);
    // Others are not taken.
    const bool fits = attempt == hosts_[receiver].attempt;
    if (IsUp(receiver) && (with_faults || fits)) {
      to.push_back({Act::kFrame, i});
    }
  }
  if (!with_faults || left_.repeats == 0) return;
  for (size_t i = 0; i < past_.size(); ++i) {
    if (IsUp(IndexOf(past_[i].frame.to))) to.push_back({Act::kAgain, i});
  }
}

void FrameModel::AddDecisions(bool with_faults,
                              std::vector<FrameStep>& to) const {
  if (CanCommit(false)) {
    to.push_back({Act::kCommit});
  } else if (with_faults && left_.majorities > 0 && CanCommit(true)) {
    to.push_back({Act::kCommit, 0, 1});
  }
  const bool is_idle = std::all_of(to.begin(), to.end(), [&](const auto& one) {
    return IsFault(one) ||
           (one.act == Act::kFrame &&
            Attempt(on_way_[one.index].frame.header.attempt) !=
                hosts_[IndexOf(on_way_[one.index].frame.to)].attempt);
  });
  if (is_idle) {
    for (size_t i = 0; i < hosts_.size(); ++i) {
      if (IsUp(i) && hosts_[i].worker->CanWait()) to.push_back({Act::kWait, i});
    }
  }
  if (committed_.has_value()) return;
  // With all: what a deadline leads to when nothing else is left.
  if (is_idle || (with_faults && left_.reopens > 0)) {
    to.push_back({Act::kReopen, replicas()});
  }
  if (!with_faults || left_.reopens == 0) return;
  for (uint32_t out = 0; out < replicas(); ++out) {
    const size_t others = replicas() - dead_.size() - (IsAlive(out) ? 1 : 0);
    if (IsAlive(out) && others > 0) to.push_back({Act::kReopen, out});
  }
}

void FrameModel::HashKeys(std::vector<Key> keys, uint64_t& hash) const {
  std::sort(keys.begin(), keys.end());
  hash = CombineHash(hash, keys.size());
  for (const auto& [attempt, kind, from, to, span, part] : keys) {
    hash = CombineHash(hash, CombineHash(attempt, static_cast<uint64_t>(kind)));
    hash = CombineHash(hash, CombineHash(IndexOf(from), IndexOf(to)));
    hash = CombineHash(hash, CombineHash(span, part));
  }
}

uint64_t FrameModel::Hash() const {
  uint64_t hash = CombineHash(attempts_.size(), committed_.has_value());
  const auto add = [&hash](uint64_t value) { hash = CombineHash(hash, value); };
  for (const OpenExchange& open : attempts_) {
    for (const Member& member : open.members) add(member.life.value());
  }
  for (const int left :
       {left_.reopens, left_.repeats, left_.kills, left_.majorities}) {
    add(static_cast<uint64_t>(left));
  }
  for (const std::vector<OnWay>* all : {&on_way_, &past_}) {
    std::vector<Key> keys;
    for (const OnWay& one : *all) {
      // Nobody takes those any more.
      if (!IsStale(one)) keys.push_back(KeyOf(one));
    }
    HashKeys(std::move(keys), hash);
  }
  for (const uint32_t replica : dead_) add(1000 + replica);
  for (const Host& host : hosts_) {
    add(host.heard);
    add(host.attempt.value());
    HashKeys({host.taken.begin(), host.taken.end()}, hash);
    std::vector<uint64_t> work = host.worker->Work();
    std::sort(work.begin(), work.end());
    add(work.size());
    for (const uint64_t cause : work) add(cause);
    const worker::SeatFragment& fragment = host.worker->fragment();
    const protocol::FragmentFacts facts = fragment.Facts(true);
    add(facts.applied.value());
    add(facts.stored_through.value());
    add(facts.stored.has_value() ? facts.stored->attempt.value() : 0);
    add(fragment.Waits());
    add(fragment.open_attempt().value());
    add(host.worker->CanWait());
  }
  return hash;
}

}  // namespace skerry::exhaustive
