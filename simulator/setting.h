// simulator/setting.h
//
// What the programs of a simulation are set to, and on which machines they run.
#ifndef SKERRY_SIMULATOR_SETTING_H_
#define SKERRY_SIMULATOR_SETTING_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "coordinator/core/options.h"

namespace skerry::sim {

struct WorkerShape {
  std::string island;
  // Of one sample.
  absl::Duration compute = absl::Milliseconds(10);
};

struct Setting {
  uint64_t seed = 0;
  // Host i + 1 is workers[i]; host 0 has the coordinator.
  std::vector<WorkerShape> workers;
  coordinator::ClusterOptions options;
  // Of the model of each job, by the job's name.
  std::map<std::string, uint64_t> elements;
  // Between two snapshots of the coordinator's journal, in records.
  uint32_t compact_records = 1000;
  // Frames carry so much, so that even small spans have several parts;
  // receivers take no less.
  uint64_t part_bytes = 1024;
  // Of bulk frames, in which one bit flips on the way.
  double damaged = 0;
};

}  // namespace skerry::sim

#endif  // SKERRY_SIMULATOR_SETTING_H_
