// A worker that joins while another replica trains alone, in rounds that are
// far shorter than its way to that replica and to the coordinator.
#include <string>
#include <variant>

#include "coordinator/core/records.h"
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
  }
  bool joined = false;
};

TEST(JoinerTest, GetsInBesideAReplicaWithShortRounds) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    Watcher watcher;
    FaultyWorld world(ShortRounds(seed), watcher, 0);
    // Far from everyone.
    for (const HostId other : {0, 1}) {
      world.network.link(kJoiner, other).delay = absl::Milliseconds(150);
      world.network.link(other, kJoiner).delay = absl::Milliseconds(150);
    }
    world.network.link(0, 1).delay = absl::Milliseconds(1);
    world.network.link(1, 0).delay = absl::Milliseconds(1);
    world.RunUntil(Instant(absl::Seconds(2)));
    Fault kill;
    kill.kind = FaultKind::kKill;
    kill.host = kJoiner;
    kill.lasts = absl::Seconds(3);
    world.Apply(kill);
    watcher.joined = false;
    world.RunUntil(Instant(absl::Seconds(40)));
    EXPECT_FALSE(world.AllJobsEnded());
    EXPECT_TRUE(watcher.joined)
        << "seed " << seed << ": " << world.committed() << " commits\n"
        << world.WorkersText();
  }
}

}  // namespace
}  // namespace skerry::sim
