// coordinator/core/log/replica_table.h
//
// Holds the admitted replicas of one job. An island has at most one life at a
// time, and its replica keeps one number through all its lives.
#ifndef SKERRY_COORDINATOR_CORE_LOG_REPLICA_TABLE_H_
#define SKERRY_COORDINATOR_CORE_LOG_REPLICA_TABLE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/status/status.h"
#include "base/ids.h"
#include "base/name_map.h"
#include "coordinator/core/log/records.h"
#include "coordinator/core/log/snapshot.h"
#include "coordinator/core/log/state_hash.h"

namespace skerry::coordinator {

struct Replica {
  Life life;
  ReplicaId replica;
  std::string island;
  // By rank.
  std::vector<SpanHolder> holders;
  std::vector<Incarnation> incarnations;

  // Returns -1 when the worker is none of the replica's workers.
  int RankOf(std::string_view worker) const;
};

class ReplicaTable {
 public:
  // Errors: DataLoss when the island or replica has a life, or the record is
  // not well formed.
  absl::Status Apply(Life index, const ReplicaAdmitted& record);
  // Errors: DataLoss when the life is not current.
  absl::Status Apply(const ReplicaEnded& record);
  ReplicaTableSnapshot Save() const;
  // Into an empty table. Errors: DataLoss when it is not well formed.
  absl::Status Restore(const ReplicaTableSnapshot& saved);

  const absl::btree_map<Life, Replica>& current() const { return current_; }
  // These return null when there is none.
  const Replica* Find(Life life) const;
  const Replica* FindIsland(std::string_view island) const;
  const Replica* FindWorker(std::string_view worker) const;
  // Returns the number of the island's replica, or the one that it would get
  // now.
  ReplicaId NumberOf(std::string_view island) const;
  // The number of every island that has had a life.
  const absl::btree_map<std::string, ReplicaId>& numbers() const {
    return numbers_;
  }
  uint64_t lives() const { return lives_; }

  void HashInto(StateHasher& hasher) const;

 private:
  void Add(Replica replica);

  absl::btree_map<Life, Replica> current_;
  // The lives that each worker is in.
  NameMap<absl::btree_set<Life>> lives_of_;
  absl::btree_map<std::string, ReplicaId> numbers_;
  uint64_t lives_ = 0;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_LOG_REPLICA_TABLE_H_
