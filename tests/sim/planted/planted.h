// tests/sim/planted/planted.h
//
// Says which planted bug is switched on. The sources in this folder are those
// of the programs with `plants.txt` applied; nothing else includes this file.
#ifndef SKERRY_TESTS_SIM_PLANTED_PLANTED_H_
#define SKERRY_TESTS_SIM_PLANTED_PLANTED_H_

#include <string_view>

namespace skerry::sim {

// Set before a simulation starts; empty: none.
inline std::string_view planted_bug;

inline bool IsPlanted(std::string_view name) { return planted_bug == name; }

}  // namespace skerry::sim

#endif  // SKERRY_TESTS_SIM_PLANTED_PLANTED_H_
