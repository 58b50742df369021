// protocol/orders.h
//
// Defines what a worker is told. Orders are a complete view of durable state,
// with the revision that it reflects. So lost, repeated and reordered orders
// need no handling beyond the revision (PROTOCOL 1 and 3).
#ifndef SKERRY_PROTOCOL_ORDERS_H_
#define SKERRY_PROTOCOL_ORDERS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/ids.h"
#include "protocol/job_orders.h"
#include "protocol/peers.h"
#include "protocol/piece_order.h"
#include "protocol/reach.h"
#include "protocol/stored_jobs.h"

namespace skerry::protocol {

// The certificates that nobody in the cluster believes any more.
struct RevokedCertificates {
  // A hash of the list; 0 when it is empty.
  uint64_t version = 0;
  std::vector<std::string> what;  // as identity::RevokedWord, sorted
  friend bool operator==(const RevokedCertificates&,
                         const RevokedCertificates&) = default;
};

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
  // Unset when the worker has been told of it.
  std::optional<RevokedCertificates> revoked = {};
  // Workers of the directory that wait for streams of this one.
  std::vector<std::string> awaited_by = {};
  // Pairs of workers between which this one passes everything on.
  RelayedPairs relayed = {};
  // Workers that it dials now and then.
  std::vector<TryOrder> tries = {};
  // What it sends to the coordinator, which passes it on.
  std::vector<PieceOrder> pieces = {};
  friend bool operator==(const Orders&, const Orders&) = default;
};

}  // namespace skerry::protocol

#endif  // SKERRY_PROTOCOL_ORDERS_H_
