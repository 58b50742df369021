#include "tests/sim/check/anchors.h"

#include <algorithm>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/hash.h"

namespace skerry::sim {

void AnchorChecker::OnDurable(const coordinator::Entry& entry) {
  const auto* restored = std::get_if<coordinator::Restored>(&entry.record);
  if (restored != nullptr) committed_[restored->job] = restored->sequence;
  const auto* commit = std::get_if<coordinator::Committed>(&entry.record);
  if (commit == nullptr) return;
  committed_[commit->job] = commit->sequence;
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

void AnchorChecker::OnOrdersSaid(HostId to, const coordinator::Orders& orders) {
  Said& said = said_[to];
  const auto back = [&](const char* what) {
    out_.Add(absl::StrCat("anchors: worker ", to, " hears an older ", what));
  };
  if (orders.revision < said.revision) back("revision");
  said.revision = orders.revision;
  for (const coordinator::JobOrders& job : orders.jobs) {
    auto& [epoch, newest] = said.jobs[job.job];
    if (job.epoch < epoch) back("epoch");
    epoch = job.epoch;
    for (const coordinator::FragmentOrders& fragment : job.fragments) {
      if (fragment.newest < newest) back("sequence");
      newest = fragment.newest;
    }
  }
}

void AnchorChecker::OnSeat(const SeatSight& sight) {
  const worker::JobFacts& facts = sight.facts;
  const std::string name = absl::StrCat("anchors: worker ", sight.host, " job ",
                                        facts.job.value(), " ");
  Seen& seen = seen_[{sight.host, sight.run, facts.job}];
  if (!facts.anchor_hashes.empty()) CheckApplied(sight, name, seen);
  if (facts.life.is_set() && facts.life < seen.life) {
    out_.Add(absl::StrCat(name, "goes back to life ", facts.life.value()));
  }
  seen.life = std::max(seen.life, facts.life);
  if (facts.applied > committed_[facts.job]) {
    out_.Add(absl::StrCat(name, "has applied ", facts.applied.value(),
                          ", committed is ", committed_[facts.job].value()));
  }
  uint64_t anchors = CombineHash(facts.applied.value(), facts.span_begin);
  for (const uint64_t hash : facts.anchor_hashes) {
    anchors = CombineHash(anchors, hash);
  }
  if (std::exchange(seen.anchors, anchors) != anchors) {
    CheckAnchors(sight, name);
  }
  if (facts.stored.has_value() &&
      std::exchange(seen.stored, facts.stored->attempt) !=
          facts.stored->attempt) {
    CheckStored(sight, name);
  }
  if (facts.ready.has_value() &&
      std::exchange(seen.ready, {facts.life, facts.ready->round}) !=
          std::pair(facts.life, facts.ready->round)) {
    CheckReady(sight, name);
  }
}

// Spans that a worker was not given before begin at the bottom.
void AnchorChecker::CheckApplied(const SeatSight& sight,
                                 const std::string& name, Seen& seen) {
  const worker::JobFacts& facts = sight.facts;
  const std::pair<uint32_t, size_t> held{facts.span_begin,
                                         facts.anchor_hashes.size()};
  if (std::exchange(seen.held, held) == held && facts.applied < seen.applied) {
    out_.Add(absl::StrCat(name, "goes back from ", seen.applied.value(), " to ",
                          facts.applied.value()));
  }
  seen.applied = facts.applied;
}

void AnchorChecker::CheckAnchors(const SeatSight& sight,
                                 const std::string& name) {
  const worker::JobFacts& facts = sight.facts;
  for (uint32_t i = 0; i < facts.anchor_hashes.size(); ++i) {
    const uint32_t span = facts.span_begin + i;
    const auto [it, fresh] = anchors_.emplace(
        std::tuple(facts.job, span, facts.applied), facts.anchor_hashes[i]);
    if (it->second != facts.anchor_hashes[i]) {
      out_.Add(absl::StrCat(name, "has another anchor of span ", span, " at ",
                            facts.applied.value()));
    }
  }
}

void AnchorChecker::CheckStored(const SeatSight& sight,
                                const std::string& name) {
  const worker::JobFacts& facts = sight.facts;
  for (uint32_t i = 0; i < facts.stored->hashes.size(); ++i) {
    const uint32_t span = facts.span_begin + i;
    const auto [it, fresh] =
        results_.emplace(std::tuple(facts.job, facts.stored->attempt, span),
                         facts.stored->hashes[i]);
    if (it->second != facts.stored->hashes[i]) {
      out_.Add(absl::StrCat(name, "has another result of span ", span,
                            " in attempt ", facts.stored->attempt.value()));
    }
  }
}

void AnchorChecker::CheckReady(const SeatSight& sight,
                               const std::string& name) {
  const worker::JobFacts& facts = sight.facts;
  const auto [it, fresh] = rounds_.emplace(
      std::tuple(facts.job, facts.life, facts.ready->round), *facts.ready);
  const worker::Contribution& first = it->second;
  if (first.base != facts.ready->base || first.weight != facts.ready->weight ||
      first.ranges != facts.ready->ranges) {
    out_.Add(absl::StrCat(name, "runs round ", facts.ready->round.value(),
                          " of life ", facts.life.value(),
                          " at another cut than its replica"));
  }
}

}  // namespace skerry::sim
