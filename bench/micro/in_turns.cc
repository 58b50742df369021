#include "bench/micro/in_turns.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace skerry::bench {
namespace {

// How many rounds all loops take part in. A loop that then takes more than
// kBehind times as long as the fastest is left out.
constexpr size_t kTrials = 2;
constexpr double kBehind = 1.1;

double Seconds(const InTurns::Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double> taken =
      std::chrono::steady_clock::now() - start;
  return taken.count();
}

}  // namespace

Shares SharesOf(std::vector<double> shares) {
  std::sort(shares.begin(), shares.end());
  const auto size = static_cast<double>(shares.size());
  const auto at = [&](double place) {
    const double last = size - 1.0;
    return shares[static_cast<size_t>(std::clamp(place, 0.0, last))];
  };
  // The median lies between these at 19 times in 20.
  const double off = std::sqrt(size);
  const double median = at(size / 2);
  const double between = at(size / 2 + off) - at(size / 2 - off);
  return {.median = median,
          .low = at(0.1 * size),
          .high = at(0.9 * size),
          .settled = between <= 0.04 * median};
}

void InTurns::Take(size_t turns, const Round& round) {
  if (loops_.empty()) {
    for (size_t i = 0; i < round.loops.size(); ++i) loops_.push_back({i, {}});
  }
  round.work();  // touches every page
  for (const Loop& loop : loops_) round.loops[loop.index]();
  // An even number, as the work is first in every other one.
  const size_t each = (turns / loops_.size() + 1) / 2 * 2;
  for (size_t turn = 0; turn < each; ++turn) Turn(round, turn % 2 == 0);
  if (++rounds_ == kTrials) LeaveOutSlow();
}

Shares InTurns::OfFastest() const {
  Shares least = SharesOf(loops_.front().shares);
  for (const Loop& loop : loops_) {
    const Shares shares = SharesOf(loop.shares);
    if (shares.median < least.median) least = shares;
  }
  return least;
}

void InTurns::Turn(const Round& round, bool work_first) {
  const auto timed = [&](const Work& work) {
    round.before();
    return Seconds(work);
  };
  for (Loop& loop : loops_) {
    double mine = work_first ? timed(round.work) : 0.0;
    const double its = timed(round.loops[loop.index]);
    if (!work_first) mine = timed(round.work);
    seconds_.push_back(mine);
    loop.shares.push_back(its / mine);
  }
}

void InTurns::LeaveOutSlow() {
  const double most = kBehind * OfFastest().median;
  std::erase_if(loops_, [&](const Loop& loop) {
    return SharesOf(loop.shares).median > most;
  });
}

}  // namespace skerry::bench
