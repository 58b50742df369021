// tests/sim/planted/plants.h
//
// Lists the planted bugs, and within how many schedules each has to be seen.
#ifndef SKERRY_TESTS_SIM_PLANTED_PLANTS_H_
#define SKERRY_TESTS_SIM_PLANTED_PLANTS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace skerry::sim {

struct PlantedBug {
  std::string name;
  uint64_t within = 0;
  // The profile of the schedules; empty: all in turn.
  std::string profile;
};

// From plants.txt, in its order; empty when it cannot be read. A bug without a
// number has 0.
std::vector<PlantedBug> ReadPlants(const std::string& path);

}  // namespace skerry::sim

#endif  // SKERRY_TESTS_SIM_PLANTED_PLANTS_H_
