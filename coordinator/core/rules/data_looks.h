// coordinator/core/rules/data_looks.h
//
// Lists the data sets and checkpoint folders that workers are asked to look at
// because somebody plans or submits a job with them. The list is never durable.
#ifndef SKERRY_COORDINATOR_CORE_RULES_DATA_LOOKS_H_
#define SKERRY_COORDINATOR_CORE_RULES_DATA_LOOKS_H_

#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "base/instant.h"
#include "coordinator/core/state/worker_table.h"

namespace skerry::coordinator {

class DataLooks {
 public:
  // Asks workers for `path` for a minute from now, unless no job could have
  // that path. Adds the names of the workers that have to be told to `touched`.
  // If there are very many paths, the one that ends first is dropped.
  void Ask(const std::string& path, Instant now, const WorkerTable& workers,
           absl::btree_set<std::string>& touched);
  // In ascending order; none for a worker that does not look.
  std::vector<std::string> PathsFor(const Worker& worker, Instant now) const;

 private:
  absl::btree_map<std::string, Instant> until_;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RULES_DATA_LOOKS_H_
