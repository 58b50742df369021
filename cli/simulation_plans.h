// cli/simulation_plans.h
//
// Makes the plans that one simulation compares: one for each combination of the
// values that were listed.
#ifndef SKERRY_CLI_SIMULATION_PLANS_H_
#define SKERRY_CLI_SIMULATION_PLANS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "job/job_spec.h"
#include "proto/skerry/v1/job.pb.h"

namespace skerry::cli {

// An empty list keeps the value of the job or the cluster.
struct PlanLists {
  std::vector<uint32_t> taus = {};
  std::vector<std::string> codecs = {};
  std::vector<std::string> methods = {};
  std::vector<size_t> islands = {};
};

struct SimulationPlan {
  // With every default.
  job::JobSpec spec;
  std::string method;
  size_t islands = 0;  // the first of the cluster
  // "tau 12, int8_block, co2, 3 islands".
  std::string name;
};

// Methods outermost, then islands, codecs and taus. Errors: InvalidArgument for
// a combination that no coordinator takes, with its name, more islands than
// there are, and more than 256 plans.
absl::StatusOr<std::vector<SimulationPlan>> ListPlans(const v1::JobSpec& job,
                                                      const PlanLists& lists,
                                                      size_t islands);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_SIMULATION_PLANS_H_
