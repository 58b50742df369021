// protocol/status_facts.h
//
// Defines what a worker says of itself. Every Status is a complete view, so a
// lost, repeated or late one needs no handling beyond its counter (PROTOCOL 3).
// The convert folder checks its form, and the core judges what it claims.
#ifndef SKERRY_PROTOCOL_STATUS_FACTS_H_
#define SKERRY_PROTOCOL_STATUS_FACTS_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/folder_id.h"
#include "base/ids.h"
#include "job/data_facts.h"
#include "protocol/job_facts.h"
#include "protocol/machine_facts.h"
#include "protocol/peers.h"
#include "protocol/program_fact.h"
#include "protocol/reach.h"
#include "protocol/stored_jobs.h"

namespace skerry::protocol {

struct StatusFacts {
  std::string release;
  PeerAddress self;
  std::string island;
  Boot boot;
  // Unset asks to be registered.
  Incarnation incarnation;
  // Rises with every Status of one boot.
  uint64_t counter = 0;
  std::vector<JobFacts> jobs;
  bool draining = false;
  // For people; empty when no preemption notice makes it drain.
  std::string drain_reason = {};
  MachineFacts machine;
  std::vector<job::DataFacts> data;
  // It answers Orders::data_paths with `data`.
  bool looks_at_data = false;
  // The ID of its state folder; unset from a worker of an older release.
  FolderId folder;
  // The first boot that this process drew; unset likewise.
  Boot process;
  // The highest number of the journal that this process was told or finds on
  // its disk.
  Revision seen;
  StoredJobs stored;
  // The programs that its operator allows.
  std::vector<ProgramFact> programs;
  // RevokedCertificates::version of the newest list that it was told.
  uint64_t revoked_version = 0;
  // It takes streams of workers that cannot be dialled.
  bool takes_streams = false;
  // It sends and takes streams through relays.
  bool takes_relays = false;
  // It fetches data sets that it lacks from other workers.
  bool fetches_data = false;
  // Workers that have answered nothing of what it sends them for a while.
  std::vector<std::string> unreached;
  // What it found of Orders::tries.
  std::vector<Tried> tried = {};
  friend bool operator==(const StatusFacts&, const StatusFacts&) = default;
};

// The highest number of the journal that the worker shows. Workers of older
// releases show what their jobs are about only.
inline Revision SeenBy(const StatusFacts& status) {
  uint64_t seen = status.seen.value();
  for (const JobFacts& job : status.jobs) {
    seen = std::max({seen, job.life.value(), job.abandoned_life.value()});
    for (const FragmentFacts& fragment : job.fragments) {
      if (!fragment.stored.has_value()) continue;
      seen = std::max(seen, fragment.stored->attempt.value());
    }
  }
  return Revision(seen);
}

}  // namespace skerry::protocol

#endif  // SKERRY_PROTOCOL_STATUS_FACTS_H_
