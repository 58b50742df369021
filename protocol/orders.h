// protocol/orders.h
//
// What a worker is told. Orders are a complete view of durable state, with the
// revision that it reflects: losing, repeating or reordering them needs no
// handling beyond the revision (PROTOCOL 1 and 3).
#ifndef SKERRY_PROTOCOL_ORDERS_H_
#define SKERRY_PROTOCOL_ORDERS_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/ids.h"
#include "protocol/job_orders.h"
#include "protocol/peers.h"
#include "protocol/stored_jobs.h"

namespace skerry::protocol {

struct Orders {
  Revision revision;
  Boot boot;
  Incarnation incarnation;
  absl::Duration lease;
  std::vector<JobOrders> jobs;
  bool released = false;
  // An operator drains the worker; the process stays.
  bool drain = false;
  // Data sets to look at.
  std::vector<std::string> data_paths = {};
  // Folders on the worker's disk: of jobs that have ended, and those that it
  // removes now.
  std::vector<StoredJobKey> ended_jobs = {};
  std::vector<StoredJobKey> removed_jobs = {};
  // It has every worker that the orders name.
  Directory directory = {};
  friend bool operator==(const Orders&, const Orders&) = default;
};

}  // namespace skerry::protocol

#endif  // SKERRY_PROTOCOL_ORDERS_H_
