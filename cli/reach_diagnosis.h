// cli/reach_diagnosis.h
//
// Says which workers others cannot dial, what is done about it, and what an
// operator can do.
#ifndef SKERRY_CLI_REACH_DIAGNOSIS_H_
#define SKERRY_CLI_REACH_DIAGNOSIS_H_

#include <string>
#include <vector>

#include "cli/check.h"
#include "proto/skerry/v1/operator.pb.h"

namespace skerry::cli {

// By what workers found when they dialled each other.
std::vector<Check> DiagnoseReach(const v1::ListWorkersReply& workers);

// Whether a worker of another island has dialled it.
bool IsReachedByAny(const v1::WorkerView& worker);

// "2 of 3, 12.1 ms": how many of those who dialled it could, and the shortest
// round trip. Empty when nobody has dialled it.
std::string TriedText(const v1::WorkerView& worker);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_REACH_DIAGNOSIS_H_
