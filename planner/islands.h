// planner/islands.h
//
// Which workers an operator says have fast links to each other.
#ifndef SKERRY_PLANNER_ISLANDS_H_
#define SKERRY_PLANNER_ISLANDS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace skerry::planner {

struct Island {
  std::string name;
  std::vector<std::string> workers;

  friend bool operator==(const Island&, const Island&) = default;
};

// Reads "eu=alpha,beta;us=gamma": islands and their workers in the order given.
// Names consist of letters, digits, '.', '_' and '-'.
//
// Errors: InvalidArgument when an island has no worker, a name is empty or has
// another character, or an island or worker is named twice.
absl::StatusOr<std::vector<Island>> ParseIslands(std::string_view text);

}  // namespace skerry::planner

#endif  // SKERRY_PLANNER_ISLANDS_H_
