// simulator/planned_world.h
//
// A world that numbers describe: machines of given speeds in islands that share
// their links. Machines may be taken away and given back; nothing else goes
// wrong.
#ifndef SKERRY_SIMULATOR_PLANNED_WORLD_H_
#define SKERRY_SIMULATOR_PLANNED_WORLD_H_

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "simulator/absences.h"
#include "simulator/cluster_shape.h"
#include "simulator/shared_links.h"
#include "simulator/stand_in.h"
#include "simulator/world.h"

namespace skerry::sim {

class PlannedWorld final : public World {
 public:
  // `cluster`, `absences` and `observer` outlive the world. The job is
  // submitted once all workers are there.
  PlannedWorld(const ClusterShape& cluster, const job::JobSpec& spec,
               const StandIn& model, const std::vector<Absence>& absences,
               uint64_t seed, Observer& observer);
  ~PlannedWorld() override;

  // When the job is submitted; absences count from here.
  static constexpr absl::Duration kBegin = absl::Seconds(5);

  // What workers of each island have sent to others, in real bytes.
  std::vector<double> BytesSent() const;

 private:
  size_t IslandOf(HostId worker) const { return island_of_[worker - 1]; }
  absl::Duration RoundTrip(HostId a, HostId b) const;
  void SetDelays();
  void AddLinks();
  std::vector<SharedLinks::LinkId> PathOf(HostId from, HostId to) const;

  const ClusterShape& cluster_;
  std::vector<size_t> island_of_;
  SharedLinks links_;
  std::map<size_t, SharedLinks::LinkId> up_;
  std::map<size_t, SharedLinks::LinkId> down_;
  // From one island to another.
  std::map<std::pair<size_t, size_t>, SharedLinks::LinkId> between_;
};

}  // namespace skerry::sim

#endif  // SKERRY_SIMULATOR_PLANNED_WORLD_H_
