#include "tests/sim/check/anchors.h"

#include <algorithm>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/hash.h"

namespace skerry::sim {
namespace {

std::string NameOf(const FragmentSight& sight) {
  return absl::StrCat("anchors: worker ", sight.seat.host, " job ",
                      sight.job().job.value(), " fragment ", sight.index, " ");
}

}  // namespace

void AnchorChecker::OnDurable(const coordinator::Entry& entry) {
  if (entry.index <= lost_end_) ForgetNumber(entry.index.value());
  last_ = entry.index;
  Fold(entry);
  const auto* commit = std::get_if<coordinator::Committed>(&entry.record);
  if (commit == nullptr) return;
  for (uint32_t span = 0; span < commit->hashes.size(); ++span) {
    const auto [it, fresh] = results_.emplace(
        std::tuple(commit->job, commit->attempt, span), commit->hashes[span]);
    if (fresh || it->second != commit->hashes[span]) {
      out_.Add(absl::StrCat("anchors: commit ", commit->sequence.value(),
                            " names a result of span ", span,
                            " that nobody stored"));
    }
  }
}

// A number that nobody has shown the coordinator may be given again, and a dead
// worker may have had it.
void AnchorChecker::ForgetNumber(uint64_t number) {
  std::erase_if(results_, [number](const auto& one) {
    return std::get<Attempt>(one.first) == Attempt(number);
  });
  std::erase_if(rounds_, [number](const auto& one) {
    return std::get<Life>(one.first) == Life(number);
  });
  std::erase_if(used_, [number](const auto& one) {
    return one.first.second == Life(number);
  });
}

// What was shown after it is of a history that is lost, unless an operator
// keeps it.
void AnchorChecker::OnJournalReplaced(Revision last) {
  const std::vector<coordinator::Entry> all = std::exchange(entries_, {});
  lost_end_ = std::max(lost_end_, last_);
  const std::map<JobId, uint32_t> before = std::exchange(fragments_, {});
  committed_.clear();
  states_.clear();
  same_as_.clear();
  std::erase_if(results_, [last](const auto& one) {
    return std::get<Attempt>(one.first).value() > last.value();
  });
  rounds_.clear();
  used_.clear();
  said_.clear();
  seen_.clear();
  for (const coordinator::Entry& entry : all) {
    if (entry.index <= last) Fold(entry);
  }
  // Also of a job that the copy does not have: it may be submitted again, under
  // its key.
  for (const auto& [job, fragments] : before) behind_.insert(job);
  std::erase_if(anchors_, [this](const auto& one) {
    const auto& [part, span, sequence] = one.first;
    return sequence > committed_[part];
  });
  replaced_ = true;
}

void AnchorChecker::Fold(const coordinator::Entry& entry) {
  const auto* submitted = std::get_if<coordinator::JobSubmitted>(&entry.record);
  if (submitted != nullptr) {
    fragments_[JobId(entry.index.value())] =
        job::FragmentCount(submitted->spec);
  }
  const auto* sized = std::get_if<coordinator::JobSized>(&entry.record);
  if (sized != nullptr) Take(*sized);
  const auto* restored = std::get_if<coordinator::Restored>(&entry.record);
  if (restored != nullptr) Take(*restored);
  const auto* adopted = std::get_if<coordinator::Adopted>(&entry.record);
  if (adopted != nullptr) Take(*adopted);
  const auto* commit = std::get_if<coordinator::Committed>(&entry.record);
  if (commit != nullptr) {
    committed_[{commit->job, static_cast<uint32_t>(commit->fragment.value())}] =
        commit->sequence;
    Note(commit->job);
  }
  if (submitted != nullptr || sized != nullptr || restored != nullptr ||
      adopted != nullptr || commit != nullptr) {
    entries_.push_back(entry);
  }
}

void AnchorChecker::Note(JobId job) {
  std::vector<Sequence> all;
  uint64_t sum = 0;
  for (uint32_t f = 0; f < fragments_[job]; ++f) {
    all.push_back(committed_[{job, f}]);
    sum += all.back().value();
  }
  states_[{job, Sequence(sum)}] = std::move(all);
}

// A second record of the size names another trainer's values. Nothing has been
// committed to the former ones.
void AnchorChecker::Take(const coordinator::JobSized& sized) {
  for (uint32_t f = 0; f < fragments_[sized.job]; ++f) {
    const Part part{sized.job, f};
    const Sequence begin = committed_[part];
    same_as_.erase({part, begin});
    std::erase_if(anchors_, [&](const auto& one) {
      const auto& [of, span, sequence] = one.first;
      return of == part && sequence == begin;
    });
  }
  BeginAnew(sized.job);
}

void AnchorChecker::BeginAnew(JobId job) {
  std::vector<Sequence>& begin = states_[{job, Sequence()}];
  begin.clear();
  for (uint32_t f = 0; f < fragments_[job]; ++f) {
    begin.push_back(committed_[{job, f}]);
  }
}

void AnchorChecker::Take(const coordinator::Restored& restored) {
  const JobId job = restored.job;
  const bool there = states_.contains({job, restored.checkpoint});
  std::vector<Sequence> back = states_[{job, restored.checkpoint}];
  back.resize(fragments_[job]);
  // Once a journal was replaced, the checkpoint may come from a lost history.
  // Its state is then not known here.
  const bool known = (there || !replaced_) && restored.initial_hash == 0;
  for (uint32_t f = 0; f < back.size(); ++f) {
    Sequence& committed = committed_[{job, f}];
    committed = restored.fragment_sequences.empty()
                    ? Next(committed)
                    : restored.fragment_sequences[f];
    if (known) same_as_[{{job, f}, committed}] = back[f];
  }
  if (restored.initial_hash != 0) BeginAnew(job);
  behind_.erase(job);
  Note(job);
}

void AnchorChecker::Take(const coordinator::Adopted& adopted) {
  for (uint32_t f = 0; f < adopted.fragment_sequences.size(); ++f) {
    committed_[{adopted.job, f}] = adopted.fragment_sequences[f];
  }
  behind_.erase(adopted.job);
  Note(adopted.job);
}

void AnchorChecker::OnOrdersSaid(HostId to, const protocol::Orders& orders) {
  Said& said = said_[to];
  const auto back = [&](const char* what) {
    out_.Add(absl::StrCat("anchors: worker ", to, " hears an older ", what));
  };
  if (orders.revision < said.revision) back("revision");
  said.revision = orders.revision;
  for (const protocol::JobOrders& job : orders.jobs) {
    Epoch& epoch = said.epochs[job.job];
    if (job.epoch < epoch) back("epoch");
    epoch = job.epoch;
    for (const protocol::FragmentOrders& fragment : job.fragments) {
      Sequence& newest = said.newest[{
          job.job, static_cast<uint32_t>(fragment.fragment.value())}];
      if (fragment.newest < newest) back("sequence");
      newest = fragment.newest;
    }
  }
}

void AnchorChecker::OnSeat(const SeatSight& sight) {
  for (uint32_t f = 0; f < sight.facts.fragments.size(); ++f) {
    OnFragment({sight, f});
  }
}

void AnchorChecker::OnFragment(const FragmentSight& sight) {
  const protocol::FragmentFacts& facts = sight.facts();
  const Life life = sight.job().life;
  Seen& seen = seen_[{sight.seat.host, sight.seat.run, PartOf(sight)}];
  if (!facts.anchor_hashes.empty()) CheckApplied(sight, seen);
  if (life.is_set() && life < seen.life) {
    out_.Add(absl::StrCat(NameOf(sight), "goes back to life ", life.value()));
  }
  seen.life = std::max(seen.life, life);
  // Whoever has a lost history shows it until it is admitted anew.
  const bool counts = !replaced_ || life.is_set();
  const Sequence committed = committed_[PartOf(sight)];
  if (facts.applied > committed && counts &&
      !behind_.contains(sight.job().job)) {
    out_.Add(absl::StrCat(NameOf(sight), "has applied ", facts.applied.value(),
                          ", committed is ", committed.value()));
  }
  uint64_t anchors = CombineHash(facts.applied.value(), facts.span_begin);
  for (const uint64_t hash : facts.anchor_hashes) {
    anchors = CombineHash(anchors, hash);
  }
  if (std::exchange(seen.anchors, anchors) != anchors && counts) {
    CheckAnchors(sight);
  }
  if (facts.stored.has_value() &&
      std::exchange(seen.stored, facts.stored->attempt) !=
          facts.stored->attempt) {
    CheckStored(sight);
  }
  if (facts.ready.has_value() &&
      std::exchange(seen.ready, {life, facts.ready->round}) !=
          std::pair(life, facts.ready->round)) {
    CheckReady(sight);
  }
}

// Spans that a worker was not given before begin at the bottom.
void AnchorChecker::CheckApplied(const FragmentSight& sight, Seen& seen) {
  const protocol::FragmentFacts& facts = sight.facts();
  const std::pair<uint32_t, size_t> held{facts.span_begin,
                                         facts.anchor_hashes.size()};
  // Without a life a worker may give its state up for an older base: of other
  // spans that it came to hold, others have no newer one.
  if (std::exchange(seen.held, held) == held && sight.job().life.is_set() &&
      facts.applied < seen.applied) {
    out_.Add(absl::StrCat(NameOf(sight), "goes back from ",
                          seen.applied.value(), " to ", facts.applied.value()));
  }
  seen.applied = facts.applied;
}

void AnchorChecker::CheckAnchors(const FragmentSight& sight) {
  const protocol::FragmentFacts& facts = sight.facts();
  // A state of a lost history. Where its last disk is lost before the
  // coordinator hears of it, the job makes other states with its numbers.
  if (behind_.contains(sight.job().job) &&
      facts.applied > committed_[PartOf(sight)]) {
    return;
  }
  for (uint32_t i = 0; i < facts.anchor_hashes.size(); ++i) {
    const uint32_t span = facts.span_begin + i;
    const auto [it, fresh] = anchors_.emplace(
        std::tuple(PartOf(sight), span, facts.applied), facts.anchor_hashes[i]);
    if (it->second != facts.anchor_hashes[i]) {
      out_.Add(absl::StrCat(NameOf(sight), "has another anchor of span ", span,
                            " at ", facts.applied.value()));
    }
    const auto back = same_as_.find({PartOf(sight), facts.applied});
    if (!fresh || back == same_as_.end()) continue;
    const auto saved =
        anchors_.find(std::tuple(PartOf(sight), span, back->second));
    if (saved != anchors_.end() && saved->second != it->second) {
      out_.Add(absl::StrCat(NameOf(sight), "went back to ",
                            back->second.value(), " as ", facts.applied.value(),
                            " with another anchor of span ", span));
    }
  }
}

void AnchorChecker::CheckStored(const FragmentSight& sight) {
  const protocol::FragmentFacts& facts = sight.facts();
  for (uint32_t i = 0; i < facts.stored->hashes.size(); ++i) {
    const uint32_t span = facts.span_begin + i;
    const auto [it, fresh] = results_.emplace(
        std::tuple(sight.job().job, facts.stored->attempt, span),
        facts.stored->hashes[i]);
    if (it->second != facts.stored->hashes[i]) {
      out_.Add(absl::StrCat(NameOf(sight), "has another result of span ", span,
                            " in attempt ", facts.stored->attempt.value()));
    }
  }
}

void AnchorChecker::CheckReady(const FragmentSight& sight) {
  const protocol::FragmentFacts& facts = sight.facts();
  const auto [it, fresh] = rounds_.emplace(
      std::tuple(sight.job().job, sight.job().life, facts.ready->round),
      std::pair(sight.index, *facts.ready));
  const auto& [fragment, first] = it->second;
  if (fragment != sight.index || first.base != facts.ready->base ||
      first.weight != facts.ready->weight ||
      first.ranges != facts.ready->ranges) {
    out_.Add(absl::StrCat(
        NameOf(sight), "runs round ", facts.ready->round.value(), " of life ",
        sight.job().life.value(), " at another cut than its replica"));
  }
  if (!fresh) return;
  data::RangeSet& used = used_[{PartOf(sight), sight.job().life}];
  const data::RangeSet again = used.Intersect(facts.ready->ranges);
  if (!again.empty()) {
    out_.Add(absl::StrCat(
        NameOf(sight), "trains on ", again.total(), " samples again in round ",
        facts.ready->round.value(), " of life ", sight.job().life.value()));
  }
  used = used.Union(facts.ready->ranges);
}

}  // namespace skerry::sim
