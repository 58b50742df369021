// simulator/cluster_shape.h
//
// A cluster as numbers: islands of workers of one speed, and the links that
// join them.
#ifndef SKERRY_SIMULATOR_CLUSTER_SHAPE_H_
#define SKERRY_SIMULATOR_CLUSTER_SHAPE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"

namespace skerry::sim {

struct IslandShape {
  std::string name;
  uint32_t workers = 1;
  // Of one sample, on one worker.
  absl::Duration compute = {};
  // To and from all other islands together; 0 is unlimited.
  double up_bytes_per_s = 0;
  double down_bytes_per_s = 0;
  // Of its way to the others, there and back.
  absl::Duration round_trip = {};
};

// Between two islands, instead of what theirs add up to.
struct IslandLink {
  double bytes_per_s = 0;  // each way; 0 is unlimited
  absl::Duration round_trip;
};

struct ClusterShape {
  std::vector<IslandShape> islands;
  // By index, the smaller first.
  std::map<std::pair<size_t, size_t>, IslandLink> links;
  absl::Duration coordinator_round_trip = absl::Milliseconds(1);
  absl::Duration lease = absl::Seconds(10);
  // From the start of a worker's process until its trainer is ready.
  absl::Duration start = absl::Seconds(2);
  // Of one step of arithmetic on the outer state, on a worker's host.
  double host_ns_per_element = 1;
  // Rounds take up to so much more or less, as a share.
  double jitter = 0;

  uint32_t workers() const {
    uint32_t all = 0;
    for (const IslandShape& island : islands) all += island.workers;
    return all;
  }
};

}  // namespace skerry::sim

#endif  // SKERRY_SIMULATOR_CLUSTER_SHAPE_H_
