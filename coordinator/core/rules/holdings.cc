#include "coordinator/core/rules/holdings.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"

namespace skerry::coordinator {
namespace {

// A state of the span, and every result after it.
bool HoldsSpan(const RoundMachine& machine, const FragmentFacts& facts,
               uint32_t span) {
  return facts.applied >= machine.floor() && facts.span_begin <= span &&
         span < facts.span_begin + facts.anchor_hashes.size() &&
         std::max(facts.applied, facts.stored_through) >= machine.newest();
}

// The newest sequence of which the worker has a base or a result. Unset when it
// has nothing since the job went back.
Sequence Reach(const RoundMachine& machine, const FragmentFacts& facts) {
  Sequence newest = std::max(facts.applied, facts.stored_through);
  for (const protocol::HeldBase& base : facts.bases) {
    newest = std::max(newest, base.sequence);
  }
  // A result of an attempt that did not commit is of no use.
  const auto& history = machine.history();
  if (facts.last_result.is_set() &&
      facts.last_result.value() <= history.size() &&
      history[facts.last_result.value() - 1].attempt ==
          facts.last_result_attempt) {
    newest = std::max(newest, facts.last_result);
  }
  return newest >= machine.floor() ? newest : Sequence();
}

}  // namespace

bool IsCoveredWithout(const JobState& job, const WorkerTable& workers,
                      std::string_view leaving) {
  if (job.Ended() || !job.Sized()) return true;
  if (!job.checkpoints.empty() &&
      job.checkpoints.back().sequence == job.State()) {
    return true;
  }
  for (const RoundMachine& machine : job.fragments) {
    std::vector<bool> covered(job.span_count, false);
    for (const auto& [name, seat] : job.seats) {
      const Worker* worker = workers.FindCurrent(name);
      if (name == leaving || worker == nullptr || worker->Leaves() ||
          worker->incarnation != seat.incarnation) {
        continue;
      }
      for (const FragmentFacts& facts : seat.facts.fragments) {
        if (facts.fragment != machine.fragment()) continue;
        for (uint32_t span = 0; span < job.span_count; ++span) {
          // The newest result as well: it may be nowhere else.
          if (HoldsSpan(machine, facts, span)) {
            covered[span] = true;
          }
        }
      }
    }
    if (std::find(covered.begin(), covered.end(), false) != covered.end()) {
      return false;
    }
  }
  return true;
}

std::pair<uint32_t, uint32_t> SpansWithoutHolder(const JobState& job,
                                                 const WorkerTable& workers,
                                                 FragmentId fragment) {
  const RoundMachine& machine = job.fragments[fragment.value()];
  std::pair<uint32_t, uint32_t> missing{0, 0};
  if (!machine.newest().is_set()) return missing;
  for (uint32_t span = 0; span < job.span_count; ++span) {
    bool held = false;
    for (const auto& [name, seat] : job.seats) {
      if (held) break;
      if (!workers.IsCurrent(name, seat.incarnation)) continue;
      for (const FragmentFacts& facts : seat.facts.fragments) {
        held |= facts.fragment == fragment && HoldsSpan(machine, facts, span);
      }
    }
    if (held) continue;
    if (missing.second == 0) missing.first = span;
    missing.second = span + 1;
  }
  return missing;
}

std::string LostTextOf(const JobState& job, const WorkerTable& workers,
                       FragmentId fragment) {
  const auto [begin, end] = SpansWithoutHolder(job, workers, fragment);
  if (end == 0) return "";
  return absl::StrCat("spans ", begin, " to ", end,
                      job.fragments.size() == 1
                          ? ""
                          : absl::StrCat(" of fragment ", fragment.value()),
                      " at sequence ",
                      job.fragments[fragment.value()].newest().value());
}

std::string LostText(const JobState& job, const WorkerTable& workers) {
  std::string lost;
  for (const RoundMachine& machine : job.fragments) {
    if (lost.empty()) lost = LostTextOf(job, workers, machine.fragment());
  }
  return lost;
}

bool MayBringLost(const JobState& job, const WorkerTable& workers,
                  const Seat& seat) {
  for (const FragmentFacts& facts : seat.facts.fragments) {
    if (facts.fragment.value() >= job.fragments.size()) continue;
    const RoundMachine& machine = job.fragments[facts.fragment.value()];
    if (Reach(machine, facts) >= machine.newest() &&
        !LostTextOf(job, workers, facts.fragment).empty()) {
      return true;
    }
  }
  return false;
}

bool HasFolderOf(const JobState& job, const Worker& worker) {
  const StoredJobKey wanted{job.id, UidOf(job)};
  const auto& all = worker.stored.all;
  const auto it =
      std::lower_bound(all.begin(), all.end(), wanted,
                       [](const protocol::StoredJob& one,
                          const StoredJobKey& key) { return one.key < key; });
  return it != all.end() && it->key == wanted;
}

bool MayHoldLost(const JobState& job, const WorkerTable& workers,
                 const Worker& worker) {
  return !job.Ended() && job.Sized() && HasFolderOf(job, worker) &&
         (job.diverged.has_value() || !LostText(job, workers).empty());
}

}  // namespace skerry::coordinator
