// A worker that joins while another replica trains alone, in rounds that are
// far shorter than its way to that replica and to the coordinator.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <variant>

#include "coordinator/core/log/records.h"
#include "gtest/gtest.h"
#include "tests/sim/faulty_world.h"

namespace skerry::sim {
namespace {

constexpr HostId kJoiner = 2;

Schedule ShortRounds(uint64_t seed) {
  Schedule schedule;
  schedule.seed = seed;
  schedule.profile = "quiet";
  schedule.workers = {{"a", absl::Milliseconds(3)},
                      {"b", absl::Milliseconds(3)}};
  JobShape job;
  job.samples = 40000;
  job.batch_samples = 1;
  job.tau = 1;
  schedule.jobs.push_back(job);
  schedule.delay_min = absl::Microseconds(200);
  schedule.delay_max = absl::Milliseconds(150);
  schedule.calm_at = absl::Hours(1);
  return schedule;
}

class Watcher final : public Observer {
 public:
  void OnDurable(const coordinator::Entry& entry) override {
    const auto* admitted =
        std::get_if<coordinator::ReplicaAdmitted>(&entry.record);
    joined |= admitted != nullptr && admitted->island == "b";
    if (const auto* commit =
            std::get_if<coordinator::Committed>(&entry.record)) {
      newest = commit->sequence.value();
    }
  }
  void OnSeat(const SeatSight& sight) override {
    if (sight.host != kJoiner || joined || sight.facts.fragments.empty()) {
      return;
    }
    const Sequence applied = sight.facts.fragments[0].applied;
    if (!applied.is_set()) return;
    least_behind =
        std::min(least_behind, newest - std::min(newest, applied.value()));
  }
  bool joined = false;
  uint64_t newest = 0;
  // While it is not in.
  uint64_t least_behind = std::numeric_limits<uint64_t>::max();
};

// With island a alone for three seconds, and `delay` between b and everyone.
void KillAndBringBack(FaultyWorld& world, absl::Duration delay) {
  for (const HostId other : {0, 1}) {
    world.network.link(kJoiner, other).delay = delay;
    world.network.link(other, kJoiner).delay = delay;
  }
  world.network.link(0, 1).delay = absl::Milliseconds(1);
  world.network.link(1, 0).delay = absl::Milliseconds(1);
  world.RunUntil(Instant(absl::Seconds(2)));
  Fault kill;
  kill.kind = FaultKind::kKill;
  kill.host = kJoiner;
  kill.lasts = absl::Seconds(3);
  world.Apply(kill);
}

TEST(JoinerTest, GetsInBesideAReplicaWithShortRounds) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    Watcher watcher;
    FaultyWorld world(ShortRounds(seed), watcher, 0);
    KillAndBringBack(world, absl::Milliseconds(150));
    watcher.joined = false;
    world.RunUntil(Instant(absl::Seconds(40)));
    EXPECT_FALSE(world.AllJobsEnded());
    EXPECT_TRUE(watcher.joined)
        << "seed " << seed << ": " << world.committed() << " commits\n"
        << world.WorkersText();
  }
}

// The newest base is a hundred commits old when it has come, so a wait that is
// too short to fold them is in vain, and only a longer one later is not. With
// this seed it gets in. With some others it is still out after 1800 s, when the
// third wait has not begun (decision 0007).
TEST(JoinerTest, GetsInHoweverFarBehind) {
  Schedule schedule = ShortRounds(2);
  schedule.lease = absl::Seconds(10);
  schedule.workers[0].compute = absl::Milliseconds(15);
  schedule.jobs[0].samples = 400000;
  Watcher watcher;
  FaultyWorld world(schedule, watcher, 0);
  KillAndBringBack(world, absl::Seconds(1));
  watcher.joined = false;
  world.RunUntil(Instant(absl::Seconds(30)));
  EXPECT_GT(watcher.least_behind, 64u);
  for (int s = 40; s <= 1800 && !watcher.joined; s += 10) {
    world.RunUntil(Instant(absl::Seconds(s)));
  }
  EXPECT_FALSE(world.AllJobsEnded());
  EXPECT_TRUE(watcher.joined) << world.committed() << " commits\n"
                              << world.WorkersText();
}

}  // namespace
}  // namespace skerry::sim
