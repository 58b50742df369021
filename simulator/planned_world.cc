#include "simulator/planned_world.h"

#include <algorithm>
#include <string>

#include "compression/frame.h"

namespace skerry::sim {
namespace {

// What a worker that has GPUs or none does: see worker/main.
constexpr int kBulkStreams = 4;
constexpr uint64_t kPartBytesMin = 1024;
// A forward pass alone, of the three that training costs.
constexpr double kEvaluationShare = 1.0 / 3;
constexpr absl::Duration kIslandDelay = absl::Microseconds(100);
// Control messages are small beside what a link carries.
constexpr double kControlBytesPerSecond = 1e12;

uint64_t Scaled(uint64_t bytes, const Scale& scale, uint64_t least) {
  return std::max(least, static_cast<uint64_t>(static_cast<double>(bytes) /
                                               scale.elements));
}

Setting SettingOf(const ClusterShape& cluster, const job::JobSpec& spec,
                  const StandIn& model, uint64_t seed) {
  Setting setting;
  setting.seed = seed;
  for (const IslandShape& island : cluster.islands) {
    for (uint32_t i = 0; i < island.workers; ++i) {
      setting.workers.push_back({island.name, island.compute});
    }
  }
  setting.options.lease = cluster.lease;
  setting.elements[spec.name] = model.elements;
  if (spec.model.program.has_value()) {
    const std::string& sha256 = spec.model.program->sha256;
    setting.programs = {{spec.model.program->name,
                         sha256.empty() ? std::string(64, '0') : sha256}};
  }
  setting.scale = model.scale;
  setting.part_bytes =
      Scaled(compression::kFramePayloadBytesMax, model.scale, kPartBytesMin);
  setting.outbox.bulk_streams_per_peer = kBulkStreams;
  for (uint64_t& bytes : setting.outbox.queue.unanswered_bytes_max) {
    bytes = Scaled(bytes, model.scale, 1);
  }
  setting.gate.held_bytes_max =
      Scaled(setting.gate.held_bytes_max, model.scale, 1);
  setting.pace.jitter = cluster.jitter;
  setting.pace.evaluation = kEvaluationShare;
  setting.pace.trainer_start = cluster.start;
  setting.pace.host =
      Pace::Host{absl::Nanoseconds(1) *
                     (cluster.host_ns_per_element * model.span_elements),
                 cluster.host_ns_per_element * model.scale.elements};
  setting.every_step = false;
  setting.watched = false;
  return setting;
}

}  // namespace

PlannedWorld::PlannedWorld(const ClusterShape& cluster,
                           const job::JobSpec& spec, const StandIn& model,
                           const std::vector<Absence>& absences, uint64_t seed,
                           Observer& watcher)
    : World(SettingOf(cluster, spec, model, seed), watcher, 0),
      cluster_(cluster),
      links_(timeline) {
  for (size_t island = 0; island < cluster.islands.size(); ++island) {
    island_of_.insert(island_of_.end(), cluster.islands[island].workers,
                      island);
  }
  SetDelays();
  AddLinks();
  network.Share(links_,
                [this](HostId from, HostId to) { return PathOf(from, to); });
  for (HostId host = 0; host < hosts(); ++host) Start(host);
  timeline.After(kBegin, [this, spec] { Submit(spec, "forecast"); });
  for (const Absence& absence : absences) {
    timeline.After(kBegin + absence.begin, [this, absence] {
      Kill(absence.worker + 1, WorkerDisk::End::kKilled,
           Instant(kBegin + absence.end));
    });
  }
}

PlannedWorld::~PlannedWorld() { EndPrograms(); }

absl::Duration PlannedWorld::RoundTrip(HostId a, HostId b) const {
  const size_t one = std::min(IslandOf(a), IslandOf(b));
  const size_t other = std::max(IslandOf(a), IslandOf(b));
  const auto link = cluster_.links.find({one, other});
  if (link != cluster_.links.end()) return link->second.round_trip;
  return cluster_.islands[one].round_trip + cluster_.islands[other].round_trip;
}

void PlannedWorld::SetDelays() {
  for (HostId a = 0; a < hosts(); ++a) {
    for (HostId b = 0; b < hosts(); ++b) {
      Link& link = network.link(a, b);
      link.bytes_per_s = kControlBytesPerSecond;
      if (a == 0 || b == 0) {
        link.delay = cluster_.coordinator_round_trip / 2;
      } else if (IslandOf(a) == IslandOf(b)) {
        link.delay = kIslandDelay;
      } else {
        link.delay = RoundTrip(a, b) / 2;
      }
    }
  }
}

void PlannedWorld::AddLinks() {
  const double scale = setting.scale.elements;
  for (size_t i = 0; i < cluster_.islands.size(); ++i) {
    const IslandShape& island = cluster_.islands[i];
    if (island.up_bytes_per_s > 0) {
      up_[i] = links_.AddLink(island.up_bytes_per_s / scale);
    }
    if (island.down_bytes_per_s > 0) {
      down_[i] = links_.AddLink(island.down_bytes_per_s / scale);
    }
  }
  for (const auto& [pair, link] : cluster_.links) {
    if (link.bytes_per_s <= 0) continue;
    between_[{pair.first, pair.second}] =
        links_.AddLink(link.bytes_per_s / scale);
    between_[{pair.second, pair.first}] =
        links_.AddLink(link.bytes_per_s / scale);
  }
}

std::vector<SharedLinks::LinkId> PlannedWorld::PathOf(HostId from,
                                                      HostId to) const {
  const size_t a = IslandOf(from);
  const size_t b = IslandOf(to);
  std::vector<SharedLinks::LinkId> path;
  if (a == b) return path;
  const auto up = up_.find(a);
  if (up != up_.end()) path.push_back(up->second);
  const auto between = between_.find({a, b});
  if (between != between_.end()) path.push_back(between->second);
  const auto down = down_.find(b);
  if (down != down_.end()) path.push_back(down->second);
  return path;
}

std::vector<double> PlannedWorld::BytesSent() const {
  std::vector<double> sent(cluster_.islands.size());
  for (HostId from = 1; from < hosts(); ++from) {
    for (HostId to = 1; to < hosts(); ++to) {
      if (IslandOf(from) == IslandOf(to)) continue;
      sent[IslandOf(from)] +=
          network.carried(from, to) * setting.scale.elements;
    }
  }
  return sent;
}

}  // namespace skerry::sim
