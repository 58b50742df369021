#include "coordinator/core/rules/chase.h"

#include <algorithm>
#include <optional>

namespace skerry::coordinator {
namespace {

// In so many commits a joiner that gains has gained.
constexpr uint64_t kCommitsWatched = 4;
constexpr int kRests = 20;

absl::Duration Patience(const ClusterOptions& options) {
  return options.takeover_wait / 4;
}

absl::Duration FirstAllowance(const ClusterOptions& options) {
  return 2 * options.takeover_wait;
}

// When who is waited for has been so for long enough, if it does not gain.
Instant EndOfWait(const Chase& chase, const ClusterOptions& options) {
  return std::min(chase.since + Patience(options),
                  chase.awaited_since + chase.allowed);
}

Instant EndOfRest(const Chase& chase) {
  return chase.since + kRests * (chase.since - chase.awaited_since);
}

// Returns how many commits a recovering seat has folded, over all fragments.
// Returns nothing if the seat does not recover or lacks a state of some
// fragment.
std::optional<uint64_t> FoldedBy(const JobState& job, const Seat& seat) {
  if (seat.facts.state != protocol::SeatState::kRecovering ||
      seat.facts.fragments.size() != job.fragments.size()) {
    return std::nullopt;
  }
  uint64_t folded = 0;
  for (const FragmentFacts& facts : seat.facts.fragments) {
    if (!facts.applied.is_set()) return std::nullopt;
    folded += facts.applied.value();
  }
  return folded;
}

// Returns how many commits the place's slowest joiner is behind. Workers of the
// `running` replica, which may be null, do not count. Returns nothing if there
// is no joiner, or if it is not known how far one of them is.
std::optional<uint64_t> BehindOf(const JobState& job, const Place& place,
                                 const Replica* running) {
  std::optional<uint64_t> behind;
  const uint64_t newest = job.State().value();
  for (size_t rank = 0; rank < place.workers.size(); ++rank) {
    if (running != nullptr && running->RankOf(place.workers[rank]) >= 0) {
      continue;
    }
    const Seat* seat =
        job.SeatOf(place.workers[rank], place.incarnations[rank]);
    if (seat == nullptr) return std::nullopt;
    const std::optional<uint64_t> folded = FoldedBy(job, *seat);
    if (!folded.has_value()) return std::nullopt;
    behind = std::max(behind.value_or(0), newest - std::min(newest, *folded));
  }
  return behind;
}

void Measure(Chase& chase, uint64_t newest, uint64_t behind, Instant now) {
  chase.since = now;
  chase.newest = newest;
  chase.behind = behind;
}

void Await(Chase& chase, const ClusterOptions& options) {
  chase.stage = Chase::Stage::kAwaited;
  chase.awaited_since = chase.since;
  chase.allowed = std::max(chase.allowed, FirstAllowance(options));
}

void GiveUp(Chase& chase, Instant now) {
  chase.stage = Chase::Stage::kGivenUp;
  if (now >= chase.awaited_since + chase.allowed) chase.allowed *= 2;
  chase.since = now;
}

void Look(Chase& chase, const Decider& decider, uint64_t newest,
          std::optional<uint64_t> behind) {
  const bool gains = behind.has_value() && *behind < chase.behind;
  switch (chase.stage) {
    case Chase::Stage::kWatched:
      if (!behind.has_value() || newest < chase.newest + kCommitsWatched) {
        return;
      }
      Measure(chase, newest, *behind, decider.now);
      if (!gains) Await(chase, decider.options);
      return;
    case Chase::Stage::kAwaited:
      if (gains) Measure(chase, newest, *behind, decider.now);
      if (decider.now >= EndOfWait(chase, decider.options)) {
        GiveUp(chase, decider.now);
      }
      return;
    case Chase::Stage::kGivenUp:
      if (behind.has_value() && decider.now >= EndOfRest(chase)) {
        chase.stage = Chase::Stage::kWatched;
        Measure(chase, newest, *behind, decider.now);
      }
      return;
  }
}

}  // namespace

void WatchChases(JobState& job, const Decider& decider) {
  const bool nobody = job.replicas.current().empty();
  for (auto& [island, place] : job.places) {
    std::optional<Chase>& chase = place.chase;
    if (nobody) {
      chase.reset();
      continue;
    }
    const uint64_t newest = job.State().value();
    const std::optional<uint64_t> behind =
        BehindOf(job, place, job.replicas.FindIsland(island));
    if (chase.has_value()) {
      Look(*chase, decider, newest, behind);
    } else if (behind.has_value()) {
      chase.emplace();
      Measure(*chase, newest, *behind, decider.now);
    }
  }
}

void CollectChases(const JobState& job, const ClusterOptions& options,
                   Earliest& earliest) {
  for (const auto& [island, place] : job.places) {
    if (!place.chase.has_value()) continue;
    if (place.chase->stage == Chase::Stage::kAwaited) {
      earliest.Consider(EndOfWait(*place.chase, options));
    } else if (place.chase->stage == Chase::Stage::kGivenUp) {
      earliest.Consider(EndOfRest(*place.chase));
    }
  }
}

bool IsAwaited(const Place& place, const ClusterOptions& options, Instant now) {
  return place.chase.has_value() &&
         place.chase->stage == Chase::Stage::kAwaited &&
         now < EndOfWait(*place.chase, options);
}

bool AwaitsChaser(const JobState& job, const ClusterOptions& options,
                  Instant now) {
  return std::any_of(
      job.places.begin(), job.places.end(),
      [&](const auto& one) { return IsAwaited(one.second, options, now); });
}

}  // namespace skerry::coordinator
