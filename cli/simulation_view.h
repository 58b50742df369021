// cli/simulation_view.h
//
// Simulated plans as people read them. Pure: a message in, text out.
#ifndef SKERRY_CLI_SIMULATION_VIEW_H_
#define SKERRY_CLI_SIMULATION_VIEW_H_

#include <string>

#include "cli/simulation.pb.h"

namespace skerry::cli {

// A row a plan, the best marked; of a single plan also what each island sends.
std::string SimulationTable(const Simulation& simulation);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_SIMULATION_VIEW_H_
