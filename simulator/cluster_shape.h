// simulator/cluster_shape.h
//
// Describes a cluster with numbers: islands of workers of one speed, and the
// links between them.
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
  // Time that one worker takes to train on one sample.
  absl::Duration compute = {};
  // Rates to and from all other islands together; 0 is unlimited.
  double up_bytes_per_s = 0;
  double down_bytes_per_s = 0;
  // The island's part of every round trip to another island. The round trip
  // between two islands is the sum of their parts.
  absl::Duration round_trip = {};
};

// A link between two islands. Its rate is a limit besides those of the islands,
// and its round trip replaces the sum of theirs.
struct IslandLink {
  double bytes_per_s = 0;  // each way; 0 is unlimited
  absl::Duration round_trip;
};

struct ClusterShape {
  std::vector<IslandShape> islands;
  // By the indices of the two islands, the smaller one first.
  std::map<std::pair<size_t, size_t>, IslandLink> links;
  absl::Duration coordinator_round_trip = absl::Milliseconds(1);
  absl::Duration lease = absl::Seconds(10);
  // Time from the start of a trainer until it is ready.
  absl::Duration start = absl::Seconds(2);
  // Nanoseconds for one element in one step of arithmetic on the outer state,
  // or in a copy to shared memory, on a worker's host.
  double host_ns_per_element = 1;
  // Largest share by which a round takes more or less time than its samples do.
  double jitter = 0;

  uint32_t workers() const {
    uint32_t all = 0;
    for (const IslandShape& island : islands) all += island.workers;
    return all;
  }
};

}  // namespace skerry::sim

#endif  // SKERRY_SIMULATOR_CLUSTER_SHAPE_H_
