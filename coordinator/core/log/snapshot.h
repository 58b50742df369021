// coordinator/core/log/snapshot.h
//
// Defines the coordinator's durable state as plain values. It is the fold of a
// journal, and replaces the records of that journal. Each part is saved and
// restored by the class of the same name, whose comments define the fields.
// What workers said is not part of it.
#ifndef SKERRY_COORDINATOR_CORE_LOG_SNAPSHOT_H_
#define SKERRY_COORDINATOR_CORE_LOG_SNAPSHOT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/folder_id.h"
#include "base/ids.h"
#include "coordinator/core/log/job_log.h"
#include "coordinator/core/log/join_table.h"
#include "coordinator/core/log/records.h"
#include "coordinator/core/log/worker_intent.h"
#include "protocol/contribution.h"
#include "protocol/exchange.h"
#include "protocol/peers.h"

namespace skerry::coordinator {

using protocol::CommittedEntry;
using protocol::Outcome;

struct WorkerSnapshot {
  protocol::PeerAddress self;
  std::string island;
  std::string release;
  Boot boot;
  Incarnation incarnation;
  bool left = false;
  std::vector<Boot> former;
  WorkerIntent intent = WorkerIntent::kServe;
  FolderId folder = {};
  Boot process = {};
  friend bool operator==(const WorkerSnapshot&,
                         const WorkerSnapshot&) = default;
};

struct ReplicaSnapshot {
  Life life;
  ReplicaId replica;
  std::string island;
  std::vector<SpanHolder> holders;
  std::vector<Incarnation> incarnations;
  friend bool operator==(const ReplicaSnapshot&,
                         const ReplicaSnapshot&) = default;
};

struct ReplicaTableSnapshot {
  // By life.
  std::vector<ReplicaSnapshot> current;
  // By island.
  std::vector<std::pair<std::string, ReplicaId>> numbers;
  uint64_t lives = 0;
  friend bool operator==(const ReplicaTableSnapshot&,
                         const ReplicaTableSnapshot&) = default;
};

struct HoldingSnapshot {
  Life life;
  data::RangeSet leased;
  data::RangeSet dropped;
  bool ended = false;
  // By fragment; empty with one.
  std::vector<data::RangeSet> due = {};
  std::vector<data::RangeSet> missed = {};
  friend bool operator==(const HoldingSnapshot&,
                         const HoldingSnapshot&) = default;
};

struct LedgerSnapshot {
  data::RangeSet free;
  data::RangeSet consumed;
  // By life.
  std::vector<HoldingSnapshot> holdings;
  friend bool operator==(const LedgerSnapshot&,
                         const LedgerSnapshot&) = default;
};

struct FragmentSnapshot {
  FragmentId fragment;
  // Entry i is sequence i + 1.
  std::vector<CommittedEntry> history;
  std::optional<std::pair<Attempt, Opened>> open;
  uint32_t tries = 0;
  bool repeated_members = false;
  std::vector<ReplicaId> blamed;
  std::vector<std::pair<Life, Outcome>> outcomes;
  std::vector<Life> ended_members;
  uint64_t attempts_total = 0;
  uint64_t dropped_total = 0;
  friend bool operator==(const FragmentSnapshot&,
                         const FragmentSnapshot&) = default;
};

struct AuditSnapshot {
  struct Open {
    FragmentId fragment;
    Attempt attempt;
    uint64_t contributions = 0;
    std::vector<data::RangeSet> ranges;
    friend bool operator==(const Open&, const Open&) = default;
  };
  std::vector<Open> open;
  std::vector<std::pair<FragmentId, data::RangeSet>> committed;
  data::RangeSet doubled;
  data::RangeSet ever_granted;
  uint64_t samples_returned = 0;
  uint64_t commits = 0;
  uint64_t contributions = 0;
  friend bool operator==(const AuditSnapshot&, const AuditSnapshot&) = default;
};

struct CoverageSnapshot {
  // By fragment; empty with one.
  std::vector<data::RangeSet> covered;
  struct Taken {
    FragmentId fragment;
    Sequence sequence;
    data::RangeSet ranges;
    friend bool operator==(const Taken&, const Taken&) = default;
  };
  // By fragment and sequence.
  std::vector<Taken> taken;
  friend bool operator==(const CoverageSnapshot&,
                         const CoverageSnapshot&) = default;
};

// What the journal has said of a job. Parts with folds of their own are saved
// by these.
struct JobSnapshot : JobLog {
  JobId job;
  JobSubmitted submitted;
  ReplicaTableSnapshot replicas;
  LedgerSnapshot ledger;
  std::vector<FragmentSnapshot> fragments;
  AuditSnapshot audit;
  CoverageSnapshot coverage;
  friend bool operator==(const JobSnapshot&, const JobSnapshot&) = default;
};

// What is left of a job that the coordinator has forgotten, because an operator
// has deleted it or many others have ended since.
struct GoneJob {
  JobId job;
  uint64_t uid = 0;
  bool deleted = false;
  friend bool operator==(const GoneJob&, const GoneJob&) = default;
};

struct ClusterSnapshot {
  // The index of the last record that is folded into the snapshot.
  Revision revision;
  // Cluster::StateHash() at that record. A restored cluster has the same hash.
  uint64_t state_hash = 0;
  // By name.
  std::vector<WorkerSnapshot> workers;
  // By number.
  std::vector<JobSnapshot> jobs;
  // By number. These are not part of the hash.
  std::vector<GoneJob> gone_jobs;
  JoinSnapshot joins = {};
  friend bool operator==(const ClusterSnapshot&,
                         const ClusterSnapshot&) = default;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_LOG_SNAPSHOT_H_
