// tests/sim/planted/planted.h
//
// Which of the planted bugs is in. The sources beside this one are those of the
// programs with `plants.txt` worked into them; nothing else includes this.
#ifndef SKERRY_TESTS_SIM_PLANTED_PLANTED_H_
#define SKERRY_TESTS_SIM_PLANTED_PLANTED_H_

#include <string_view>

namespace skerry::sim {

// Set before a simulation starts; empty: none.
inline std::string_view planted_bug;

inline bool IsPlanted(std::string_view name) { return planted_bug == name; }

}  // namespace skerry::sim

#endif  // SKERRY_TESTS_SIM_PLANTED_PLANTED_H_
