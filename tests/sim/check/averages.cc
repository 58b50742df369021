#include "tests/sim/check/averages.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "job/job_spec.h"

namespace skerry::sim {
namespace {

// Rounding of fp32 in a weighted sum and its division, as a share of the
// largest value of an element.
constexpr double kRounding = 2e-6;

std::string NameOf(const FragmentSight& sight) {
  return absl::StrCat("averages: worker ", sight.seat.host, " job ",
                      sight.job().job.value(), " ");
}

}  // namespace

void AverageChecker::OnDurable(const coordinator::Entry& entry) {
  if (silent_) return;
  if (const auto* submitted =
          std::get_if<coordinator::JobSubmitted>(&entry.record)) {
    Job& job = jobs_[JobId(entry.index.value())];
    job.fragments = job::FragmentCount(submitted->spec);
    job.spans_max = submitted->spec.exchange.spans;
  } else if (const auto* sized =
                 std::get_if<coordinator::JobSized>(&entry.record)) {
    Size(*sized);
  } else if (const auto* open =
                 std::get_if<coordinator::Opened>(&entry.record)) {
    attempts_[Attempt(entry.index.value())] = *open;
  } else if (const auto* commit =
                 std::get_if<coordinator::Committed>(&entry.record)) {
    if (commit->fragment.value() + 1 != jobs_[commit->job].fragments) return;
    commits_[{commit->job, commit->sequence}] = commit->attempt;
  }
}

void AverageChecker::Size(const coordinator::JobSized& sized) {
  Job& job = jobs_[sized.job];
  if (sized.average_begin == 0) return;
  const auto cut = planner::CutFragments(sized.element_count, job.fragments,
                                         job.spans_max, sized.average_begin);
  if (!cut.ok()) return;
  job.spans = cut->back();
  job.first = 0;
  while (job.spans[job.first].begin < sized.average_begin) ++job.first;
}

void AverageChecker::OnLive(const LiveSight& sight) {
  if (silent_ || sight.begins || jobs_[sight.job].spans.empty()) return;
  live_[{sight.host, sight.run, sight.job}].assign(sight.live.begin(),
                                                   sight.live.end());
}

void AverageChecker::OnSeat(const SeatSight& sight) {
  if (silent_) return;
  const Job& job = jobs_[sight.facts.job];
  if (job.spans.empty() || sight.facts.fragments.size() != job.fragments) {
    return;
  }
  const FragmentSight last{sight, job.fragments - 1};
  if (last.facts().ready.has_value() && sight.facts.life.is_set()) {
    TakeOffer(last, job);
  }
  if (!last.facts().anchor_hashes.empty()) CheckAnchor(last, job);
}

void AverageChecker::TakeOffer(const FragmentSight& sight, const Job& job) {
  const protocol::Contribution& ready = *sight.facts().ready;
  const std::vector<float>& live =
      live_[{sight.seat.host, sight.seat.run, sight.job().job}];
  for (uint32_t s = job.first; s < job.spans.size(); ++s) {
    const worker::Values owed = sight.seat.seat.OwedOf(s, sight.index);
    if (owed == nullptr) return;
    const auto [it, fresh] = offers_.emplace(
        std::tuple(sight.job().job, sight.job().life, ready.round, s),
        Offer{owed, ready.weight});
    if (!fresh || live.empty()) continue;
    for (uint64_t i = 0; i < owed->size(); ++i) {
      const double due = -ready.weight * live[job.spans[s].begin + i];
      const double off = std::abs((*owed)[i] - due);
      if (off <= kRounding * std::abs(due)) continue;
      out_.Add(absl::StrCat(NameOf(sight), "offers ", (*owed)[i],
                            " of an averaged value in round ",
                            ready.round.value(), " where its trainer has ",
                            live[job.spans[s].begin + i], " and the weight is ",
                            ready.weight));
      return;
    }
  }
}

void AverageChecker::CheckAnchor(const FragmentSight& sight, const Job& job) {
  const Sequence applied = sight.facts().applied;
  const auto commit = commits_.find({sight.job().job, applied});
  if (commit == commits_.end()) return;
  const coordinator::Opened& open = attempts_[commit->second];
  for (uint32_t s = job.first; s < job.spans.size(); ++s) {
    const worker::Values anchor = sight.seat.seat.AnchorOf(s, sight.index);
    if (anchor == nullptr) return;
    worker::Values& seen = seen_[{sight.job().job, applied, s}];
    // Others with that sequence have the same bits: AnchorChecker sees to it.
    if (seen != nullptr) continue;
    seen = anchor;
    CheckSpan(sight, s, open);
  }
}

void AverageChecker::CheckSpan(const FragmentSight& sight, uint32_t span,
                               const coordinator::Opened& open) {
  std::vector<const Offer*> offers;
  double weight = 0;
  for (const protocol::Member& member : open.members) {
    const auto offer = offers_.find(
        {sight.job().job, member.life, member.contribution.round, span});
    if (offer == offers_.end()) return;
    offers.push_back(&offer->second);
    weight += offer->second.weight;
  }
  const worker::Values anchor = sight.seat.seat.AnchorOf(span, sight.index);
  const uint64_t elements = offers.front()->owed->size();
  for (uint64_t i = 0; i < elements; ++i) {
    double sum = 0;
    double least = INFINITY;
    double most = -INFINITY;
    for (const Offer* one : offers) {
      sum -= (*one->owed)[i];
      const double value = -(*one->owed)[i] / one->weight;
      least = std::min(least, value);
      most = std::max(most, value);
    }
    const double has = (*anchor)[i];
    const double slack = kRounding * std::max(std::abs(least), std::abs(most));
    if (has >= least - slack && has <= most + slack &&
        std::abs(has - sum / weight) <= slack) {
      continue;
    }
    out_.Add(absl::StrCat(NameOf(sight), "has the averaged value ", has,
                          " at sequence ", sight.facts().applied.value(),
                          ", where ", offers.size(), " members have ", least,
                          " to ", most, " and the mean ", sum / weight));
    return;
  }
}

}  // namespace skerry::sim
