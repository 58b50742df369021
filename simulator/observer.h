// simulator/observer.h
//
// An observer sees a simulation from outside the programs: the records that
// became durable, the messages, and what each seat holds. Checkers are
// observers.
#ifndef SKERRY_SIMULATOR_OBSERVER_H_
#define SKERRY_SIMULATOR_OBSERVER_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/instant.h"
#include "compression/frame.h"
#include "coordinator/core/log/records.h"
#include "protocol/fragment_facts.h"
#include "protocol/job_facts.h"
#include "protocol/job_orders.h"
#include "protocol/orders.h"
#include "protocol/status_facts.h"
#include "simulator/network.h"
#include "simulator/worker_disk.h"
#include "worker/core/seat.h"

namespace skerry::sim {

// What a run of a worker's process says of a job.
struct JobSight {
  HostId host = 0;
  // Number of the process on its host; it rises with every start.
  uint64_t run = 0;
  const protocol::JobFacts& facts;
};

// The seat of one job on one run of a worker's process.
struct SeatSight {
  HostId host = 0;
  uint64_t run = 0;
  worker::Seat& seat;
  const protocol::JobFacts& facts;
};

// A fragment of what a job, on one run of a worker's process, says.
struct FragmentSight {
  const SeatSight& seat;
  uint32_t index = 0;

  const protocol::JobFacts& job() const { return seat.facts; }
  const protocol::FragmentFacts& facts() const {
    return seat.facts.fragments[index];
  }
};

// The live values of a job's trainer on one run of a worker's process, when
// inner steps begin and when they have been taken.
struct LiveSight {
  HostId host = 0;
  uint64_t run = 0;
  JobId job;
  bool begins = false;
  std::span<const float> live;
};

class Observer {
 public:
  virtual ~Observer() = default;
  // In the order of the journal.
  virtual void OnDurable(const coordinator::Entry& entry) {}
  // An earlier journal was put in place, which ends with `last`.
  virtual void OnJournalReplaced(Revision last) {}
  // The hash of the coordinator's state while all its records are durable.
  virtual void OnState(Revision revision, uint64_t hash) {}
  // Messages when they leave.
  virtual void OnOrdersSaid(HostId to, const protocol::Orders& orders) {}
  virtual void OnFactsSaid(const JobSight& sight, const WorkerDisk& disk,
                           const std::string& folder) {}
  // A run of the coordinator has taken in the Status, whether or not it changed
  // anything.
  virtual void OnStatusTaken(HostId from, uint64_t run,
                             const protocol::StatusFacts& status) {}
  // A run of a worker has been given them, and a frame was accepted.
  virtual void OnOrdersHeard(HostId host, uint64_t run,
                             const protocol::JobOrders& orders) {}
  virtual void OnFrameTaken(HostId host, uint64_t run,
                            const compression::FrameHeader& header) {}
  // A worker removes the files that it has of the job with that uid.
  virtual void OnFolderRemoved(HostId host, JobId job, uint64_t uid) {}
  // In the task that begins the steps, or that ends them.
  virtual void OnLive(const LiveSight& sight) {}
  // After every task of the worker's process.
  virtual void OnSeat(const SeatSight& sight) {}
  // A program did what no program may: text says what.
  virtual void OnBroken(const std::string& what) {}
};

}  // namespace skerry::sim

#endif  // SKERRY_SIMULATOR_OBSERVER_H_
