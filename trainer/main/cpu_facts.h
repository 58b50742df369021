// trainer/main/cpu_facts.h
//
// Chooses OpenBLAS' core type by what the processor says of itself.
#ifndef SKERRY_TRAINER_MAIN_CPU_FACTS_H_
#define SKERRY_TRAINER_MAIN_CPU_FACTS_H_

#include <string>

namespace skerry::trainer {

// The core type that OpenBLAS is to be told, empty for its own choice; see
// model/cpu/gemm_choice.h.
std::string OpenBlasCoreTypeHere();

}  // namespace skerry::trainer

#endif  // SKERRY_TRAINER_MAIN_CPU_FACTS_H_
