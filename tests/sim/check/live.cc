#include "tests/sim/check/live.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "job/job_spec.h"

namespace skerry::sim {
namespace {

// Rounding of fp32, as a share of the largest that an element has been, and
// absolute. Results are added to what has been trained, and a difference of
// large values keeps the rounding that they had.
constexpr double kRounding = 4e-6;
// What rounding may make of the squared norm of a contribution.
constexpr double kNormRounding = 0.02;
constexpr double kNormOfElement = 1e-11;

std::string NameOf(const FragmentSight& sight) {
  return absl::StrCat("live: worker ", sight.seat.host, " job ",
                      sight.job().job.value(), " fragment ", sight.index, " ");
}

}  // namespace

void LiveChecker::OnDurable(const coordinator::Entry& entry) {
  if (silent_) return;
  if (const auto* submitted =
          std::get_if<coordinator::JobSubmitted>(&entry.record)) {
    Job& job = jobs_[JobId(entry.index.value())];
    job.outer = job::OuterOptionsOf(submitted->spec);
    job.fragments = job::FragmentCount(submitted->spec);
    job.spans = submitted->spec.exchange.spans;
  } else if (const auto* sized =
                 std::get_if<coordinator::JobSized>(&entry.record)) {
    Job& job = jobs_[sized->job];
    auto cut = planner::CutFragments(sized->element_count, job.fragments,
                                     job.spans, sized->average_begin);
    if (cut.ok()) job.cut = *std::move(cut);
    job.average_begin =
        sized->average_begin > 0 ? sized->average_begin : sized->element_count;
  } else if (const auto* open =
                 std::get_if<coordinator::Opened>(&entry.record)) {
    attempts_[Attempt(entry.index.value())] = *open;
  } else if (const auto* commit =
                 std::get_if<coordinator::Committed>(&entry.record)) {
    for (const auto& member : attempts_[commit->attempt].members) {
      committed_[{commit->job, member.life, member.contribution.round}] =
          commit->sequence;
    }
    shares_[{commit->job, commit->fragment.value(), commit->sequence}] =
        commit->scalars.own_share;
  } else if (const auto* drop =
                 std::get_if<coordinator::Dropped>(&entry.record)) {
    dropped_.insert({drop->job, drop->life, drop->round});
  }
}

void LiveChecker::OnLive(const LiveSight& sight) {
  if (silent_) return;
  Trainee& one = trainees_[{sight.host, sight.run, sight.job}];
  one.progress.resize(sight.live.size());
  one.largest.resize(sight.live.size());
  for (size_t i = 0; i < one.largest.size(); ++i) {
    one.largest[i] = std::max(one.largest[i], std::abs(sight.live[i]));
  }
  if (sight.begins) {
    one.begins = true;
    one.begin.assign(sight.live.begin(), sight.live.end());
    return;
  }
  one.end.assign(sight.live.begin(), sight.live.end());
  if (one.begin.size() != sight.live.size()) return;
  for (size_t i = 0; i < one.progress.size(); ++i) {
    one.progress[i] += static_cast<double>(sight.live[i]) - one.begin[i];
  }
}

void LiveChecker::OnSeat(const SeatSight& sight) {
  const auto it = trainees_.find({sight.host, sight.run, sight.facts.job});
  if (silent_ || it == trainees_.end()) return;
  Trainee& one = it->second;
  const Job& job = jobs_[sight.facts.job];
  if (std::exchange(one.life, sight.facts.life) != sight.facts.life) {
    one.parts.clear();
    std::fill(one.progress.begin(), one.progress.end(), 0.0);
  }
  // Its last round began and its life ended at once. The next values that it
  // trains on are those of another life.
  if (!one.life.is_set()) one.begins = false;
  if (!one.life.is_set() || job.cut.size() != sight.facts.fragments.size()) {
    return;
  }
  one.parts.resize(job.cut.size());
  for (uint32_t f = 0; f < job.cut.size(); ++f) {
    TakeBoundary({sight, f}, job, one);
  }
  if (!std::exchange(one.begins, false)) return;
  for (uint32_t f = 0; f < job.cut.size(); ++f) {
    Check({sight, f}, job, one);
    CheckAverages({sight, f}, job, one);
  }
}

void LiveChecker::TakeBoundary(const FragmentSight& sight, const Job& job,
                               Trainee& one) {
  Part& part = one.parts[sight.index];
  const auto& ready = sight.facts().ready;
  if (!ready.has_value() || part.ready == ready->round) return;
  part.ready = ready->round;
  const auto& spans = job.cut[sight.index];
  double squared = 0;
  double elements = 0;
  for (uint32_t s = sight.facts().span_begin; s < spans.size(); ++s) {
    if (sight.seat.seat.AnchorOf(s, sight.index) == nullptr) break;
    if (spans[s].begin >= job.average_begin) break;
    for (uint64_t i = spans[s].begin; i < spans[s].end; ++i) {
      squared += one.progress[i] * one.progress[i];
    }
    elements += static_cast<double>(spans[s].size());
  }
  const double said = ready->scalars.delta_squared_norm;
  const double allowed =
      kNormRounding * (said + squared) + kNormOfElement * elements;
  if (std::isfinite(squared) && std::abs(said - squared) > allowed) {
    out_.Add(absl::StrCat(NameOf(sight), "offers round ", ready->round.value(),
                          " of squared norm ", said, ", and trained ",
                          squared));
  }
  part.at_anchor = true;
  part.on_way.assign(one.progress.size(), 0.0);
  for (uint64_t i = spans.front().begin; i < spans.back().end; ++i) {
    part.on_way[i] = std::exchange(one.progress[i], 0.0);
  }
  part.ended = one.end;
}

bool LiveChecker::IsBack(const FragmentSight& sight, Round round) const {
  const auto commit =
      committed_.find({sight.job().job, sight.job().life, round});
  return commit != committed_.end() && commit->second <= sight.facts().applied;
}

bool LiveChecker::IsDropped(const FragmentSight& sight, Round round) const {
  return dropped_.contains({sight.job().job, sight.job().life, round});
}

std::vector<double> LiveChecker::Shares(const FragmentSight& sight,
                                        const Job& job) const {
  if (job.outer.merge == optimizer::MergeRule::kReplace) return {0.0};
  if (job.outer.own_share.has_value()) return {*job.outer.own_share};
  if (job.outer.mix.has_value()) return {*job.outer.mix};
  // A worker decides the share of what is on its way when an earlier sequence
  // is the newest. One whose history does not reach back to the commit keeps
  // the share that it had, which may be of any earlier sequence, or 1. Seed
  // 8269 has a worker that was away for long.
  std::vector<double> shares = {1.0};
  const Sequence applied = sight.facts().applied;
  for (auto it = shares_.upper_bound({sight.job().job, sight.index, applied});
       it != shares_.begin();) {
    --it;
    const auto& [of, fragment, sequence] = it->first;
    if (of != sight.job().job || fragment != sight.index) break;
    shares.push_back(static_cast<float>(it->second));
  }
  return shares;
}

void LiveChecker::Check(const FragmentSight& sight, const Job& job,
                        Trainee& one) {
  Part& part = one.parts[sight.index];
  std::vector<double> shares = {0.0};
  if (!part.on_way.empty()) {
    if (IsBack(sight, *part.ready)) {
      part.on_way.clear();
    } else {
      shares = Shares(sight, job);
      if (IsDropped(sight, *part.ready)) shares.push_back(0.0);
    }
  }
  const auto& spans = job.cut[sight.index];
  const bool mixes = job.outer.merge == optimizer::MergeRule::kConvexMix;
  double least = -1;
  for (const double share : shares) {
    double most = 0;
    for (uint32_t s = sight.facts().span_begin; s < spans.size(); ++s) {
      const worker::Values anchor = sight.seat.seat.AnchorOf(s, sight.index);
      if (anchor == nullptr || spans[s].begin >= job.average_begin) break;
      for (uint64_t i = spans[s].begin; i < spans[s].end; ++i) {
        const double at = (*anchor)[i - spans[s].begin];
        const double kept = part.on_way.empty() ? 0.0
                            : mixes             ? share * (part.ended[i] - at)
                                                : share * part.on_way[i];
        const double due = at + kept + one.progress[i];
        const double off =
            std::abs(one.begin[i] - due) /
            (1 + std::max<double>(one.largest[i], std::abs(due)));
        if (off > most) most = off;
      }
    }
    if (least < 0 || most < least) least = most;
  }
  if (least > kRounding) {
    out_.Add(absl::StrCat(NameOf(sight), "trains on values that are off by ",
                          least, " at sequence ",
                          sight.facts().applied.value()));
  }
}

void LiveChecker::CheckAverages(const FragmentSight& sight, const Job& job,
                                Trainee& one) {
  const bool at_anchor = std::exchange(one.parts[sight.index].at_anchor, false);
  const auto& spans = job.cut[sight.index];
  for (uint32_t s = sight.facts().span_begin; s < spans.size(); ++s) {
    const worker::Values anchor = sight.seat.seat.AnchorOf(s, sight.index);
    if (anchor == nullptr) return;
    if (spans[s].begin < job.average_begin) continue;
    for (uint64_t i = spans[s].begin; i < spans[s].end; ++i) {
      const float due = at_anchor ? (*anchor)[i - spans[s].begin] : one.end[i];
      if (one.begin[i] == due) continue;
      out_.Add(absl::StrCat(
          NameOf(sight), "trains with the averaged value ", one.begin[i],
          at_anchor ? " where the anchor has " : " where it stood at ", due,
          ", at sequence ", sight.facts().applied.value()));
      return;
    }
  }
}

}  // namespace skerry::sim
