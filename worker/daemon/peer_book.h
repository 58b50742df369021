// worker/daemon/peer_book.h
//
// Keeps which workers each replica has, as orders name them for exchanges, so
// that nobody else's frames are taken for the replica's.
#ifndef SKERRY_WORKER_DAEMON_PEER_BOOK_H_
#define SKERRY_WORKER_DAEMON_PEER_BOOK_H_

#include <cstdint>
#include <set>
#include <string>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/functional/function_ref.h"
#include "base/ids.h"
#include "protocol/job_orders.h"
#include "protocol/peers.h"

namespace skerry::worker {

class PeerBook {
 public:
  // What the orders say of a replica takes the place of what was known of it.
  void Learn(const protocol::JobOrders& orders);
  // Forgets every other job.
  void KeepOnly(const std::set<uint64_t>& jobs);

  // True also for a replica that no exchange has named: nothing of it is wanted
  // yet, and the exchange says so.
  bool MaySpeakFor(JobId job, ReplicaId replica,
                   const std::string& worker) const;

 private:
  using Workers = absl::btree_set<std::string>;
  absl::btree_map<uint64_t, absl::btree_map<uint64_t, Workers>> jobs_;
};

// Visits each worker that the orders name with an address, some several times.
void ForEachPeer(const protocol::JobOrders& orders,
                 absl::FunctionRef<void(const protocol::PeerAddress&)> visit);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_PEER_BOOK_H_
