// A job of a program, whose trainers begin with different values, on a whole
// simulated cluster.
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/core/log/records.h"
#include "gtest/gtest.h"
#include "job/testing/specs.h"
#include "simulator/world.h"

namespace skerry::sim {
namespace {

constexpr char kName[] = "vision";
constexpr uint64_t kElements = 8 * 1024;

Setting SettingOf(uint64_t seed) {
  Setting setting;
  setting.seed = seed;
  setting.workers = {{"a"}, {"b"}};
  setting.elements[kName] = kElements;
  setting.programs = {{"resnet", std::string(64, 'a')}};
  setting.programs_begin_differently = true;
  return setting;
}

class Watcher final : public Observer {
 public:
  void OnDurable(const coordinator::Entry& entry) override {
    if (const auto* sized = std::get_if<coordinator::JobSized>(&entry.record)) {
      hashes.push_back(sized->initial_hash);
    } else if (const auto* back =
                   std::get_if<coordinator::Restored>(&entry.record)) {
      hashes.push_back(back->initial_hash);
      ++restored;
    } else if (std::holds_alternative<coordinator::Committed>(entry.record)) {
      ++commits;
    } else if (const auto* end =
                   std::get_if<coordinator::JobEnded>(&entry.record)) {
      phase = end->phase;
      reason = end->reason;
    }
  }
  // Every state of a sequence is the same on all workers.
  void OnSeat(const SeatSight& sight) override {
    for (const auto& facts : sight.facts.fragments) {
      for (size_t i = 0; i < facts.anchor_hashes.size(); ++i) {
        const auto [it, fresh] = anchors.emplace(
            std::pair(facts.applied.value(), facts.span_begin + i),
            facts.anchor_hashes[i]);
        if (it->second != facts.anchor_hashes[i]) {
          broken =
              absl::StrCat("span ", it->first.second, " at ", it->first.first,
                           " differs on host ", sight.host);
        }
      }
    }
  }
  void OnBroken(const std::string& what) override { broken = what; }

  std::vector<uint64_t> hashes;
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> anchors;
  int restored = 0;
  uint64_t commits = 0;
  protocol::JobPhase phase = protocol::JobPhase::kPending;
  std::string reason;
  std::string broken;
};

class ProgramWorld final : public World {
 public:
  ProgramWorld(uint64_t seed, Observer& observer)
      : World(SettingOf(seed), observer, 0) {
    for (HostId host = 0; host < hosts(); ++host) {
      for (HostId other = 0; other < hosts(); ++other) {
        network.link(host, other).delay = absl::Milliseconds(5);
      }
    }
    for (HostId host = 0; host < hosts(); ++host) Start(host);
    timeline.After(absl::Seconds(3), [this] {
      job::JobSpec spec = job::ProgramJob(kName, 400);
      spec.placement.workers_min = 2;
      Submit(spec, "key");
    });
  }
  ~ProgramWorld() override { EndPrograms(); }
};

TEST(ProgramTest, ReplicasThatBeginDifferentlyTrainOneModel) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    Watcher watcher;
    ProgramWorld world(seed, watcher);
    world.RunUntil(Instant(absl::Minutes(10)));
    EXPECT_EQ(watcher.phase, protocol::JobPhase::kSucceeded)
        << "seed " << seed << ": " << watcher.reason << world.WorkersText();
    EXPECT_EQ(watcher.broken, "") << "seed " << seed;
    EXPECT_EQ(watcher.hashes.size(), 1u) << "seed " << seed;
    EXPECT_GT(watcher.commits, 5u);
  }
}

// Each seed kills a worker at another moment of the job's first 400 ms, in
// which trainers start and the first state is made and fetched.
TEST(ProgramTest, TheJobBeginsWhoeverIsLost) {
  int anew = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Watcher watcher;
    ProgramWorld world(seed, watcher);
    const HostId host = 1 + static_cast<HostId>(seed % 2);
    const absl::Duration at =
        absl::Seconds(3) + absl::Milliseconds(20) * (seed / 2);
    world.RunUntil(Instant(at));
    world.Kill(host, WorkerDisk::End::kKilled, Instant(at + absl::Seconds(1)));
    world.RunUntil(Instant(absl::Minutes(10)));
    EXPECT_EQ(watcher.phase, protocol::JobPhase::kSucceeded)
        << "seed " << seed << ": " << watcher.reason << world.WorkersText();
    EXPECT_EQ(watcher.broken, "") << "seed " << seed;
    EXPECT_LE(watcher.hashes.size(), 6u) << "seed " << seed;
    anew += watcher.hashes.size() > 1 ? 1 : 0;
  }
  std::printf("%d of 40 jobs began with other values than the first\n", anew);
  EXPECT_GE(anew, 3);
}

}  // namespace
}  // namespace skerry::sim
