// worker/shell/peer_book.h
//
// Keeps who the workers of each job are, as orders name them. Nobody else's
// frames are taken for a replica's, nobody else gets the job's state, and
// nobody else takes part in the cut of a replica.
#ifndef SKERRY_WORKER_SHELL_PEER_BOOK_H_
#define SKERRY_WORKER_SHELL_PEER_BOOK_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "base/ids.h"
#include "base/instant.h"
#include "protocol/job_orders.h"
#include "protocol/peers.h"

namespace skerry::worker {

class PeerBook {
 public:
  // `self` is this worker's name.
  explicit PeerBook(std::string self) : self_(std::move(self)) {}

  // What the orders say of a replica takes the place of what was known of it.
  // So does what they say of the job's workers.
  void Learn(const protocol::JobOrders& orders);
  // Forgets every other job.
  void KeepOnly(const std::set<uint64_t>& jobs);

  // True also for a replica that no exchange has named: nothing of it is wanted
  // yet, and the exchange says so.
  bool MaySpeakFor(JobId job, ReplicaId replica,
                   const std::string& worker) const;

  // Whether the worker gets the job's state.
  enum class FetchRight {
    kYes,
    // It is not named. It may have heard of the job before this worker heard of
    // it, and asks again.
    kNotYet,
    // It has been asking for kNamedWithin and is still not named.
    kNo,
  };
  // kYes for every worker while the orders do not name all workers of the job,
  // and for a job that they do not name.
  FetchRight MayFetch(JobId job, const std::string& worker, Instant now);
  // Orders come with every Status, so the next ones name a joiner.
  static constexpr absl::Duration kNamedWithin = absl::Seconds(10);

  // Whether the worker has that rank in the life. True for a life other than
  // that of the newest orders: its cut is over, or has not begun.
  bool MayAskCut(JobId job, Life life, uint32_t rank,
                 const std::string& worker) const;

 private:
  using Workers = absl::btree_set<std::string>;
  struct OfJob {
    absl::btree_map<uint64_t, Workers> replicas;
    // None while the orders do not name all.
    std::optional<Workers> workers;
    // When each that is not named has asked first, at most kAskersMax.
    absl::btree_map<std::string, Instant> asked;
    Life life;
    std::vector<std::string> ranks;  // of this worker's replica in that life
  };
  static constexpr size_t kAskersMax = 256;

  void LearnReplicas(const protocol::JobOrders& orders, OfJob& job);
  void LearnWorkers(const protocol::JobOrders& orders, OfJob& job);

  const std::string self_;
  absl::btree_map<uint64_t, OfJob> jobs_;
};

// Visits each worker that the orders name with an address, some several times.
// Those that are only named as workers of the job are not visited.
void ForEachPeer(const protocol::JobOrders& orders,
                 absl::FunctionRef<void(const protocol::PeerAddress&)> visit);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_SHELL_PEER_BOOK_H_
