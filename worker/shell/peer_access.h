// worker/shell/peer_access.h
//
// Refuses what other workers may not do here, tells of it in the log, and
// counts it.
#ifndef SKERRY_WORKER_SHELL_PEER_ACCESS_H_
#define SKERRY_WORKER_SHELL_PEER_ACCESS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/ids.h"
#include "base/instant.h"
#include "compression/frame.h"
#include "protocol/job_orders.h"
#include "runtime/metrics.h"
#include "transport/bulk.h"
#include "transport/grpc/refusals.h"
#include "worker/core/effects.h"
#include "worker/core/group_meeting.h"
#include "worker/shell/peer_book.h"

namespace skerry::worker {

// Times are those of the loop's clock. Members are called on the loop.
class PeerAccess {
 public:
  // `self` is this worker's name.
  explicit PeerAccess(const std::string& self) : self_(self), book_(self) {}

  // Takes in what the newest orders say of one job.
  void Learn(const protocol::JobOrders& orders) { book_.Learn(orders); }
  // Forgets every other job.
  void KeepOnly(const std::set<uint64_t>& jobs) { book_.KeepOnly(jobs); }

  // Whether `from` may send frames of the replica that the header names.
  bool MaySend(const std::string& from, const compression::FrameHeader& header,
               Instant now);
  // Errors: Unavailable, the orders do not name the worker yet, and it may ask
  // again; PermissionDenied, it is no worker of the job.
  absl::Status CheckFetch(const transport::Fetcher& fetcher, JobId job,
                          Instant now);
  // `worker` is the caller's name in its certificate; none in plaintext, where
  // nobody shows who he is. Errors: PermissionDenied, another worker has that
  // rank.
  absl::Status CheckCut(const std::optional<std::string>& worker, JobId job,
                        const CutRequest& request, Instant now);
  // Likewise.
  absl::Status CheckMeet(const std::optional<std::string>& worker, JobId job,
                         const MeetRequest& request, Instant now);

  // Says how often each was refused. docs/metrics.md explains it.
  void AddMetrics(std::vector<runtime::Metric>& metrics) const;

 private:
  // Counts one more in `what`. Answers as Refusals::Count.
  std::optional<uint64_t> Count(uint64_t& what, Instant now);
  // Whether the caller has that rank of this worker's replica. If not, counts
  // one more in `what`, and logs `event`.
  absl::Status CheckRank(const std::optional<std::string>& worker, JobId job,
                         Life life, uint32_t rank, Instant now, uint64_t& what,
                         std::string_view event);

  const std::string self_;
  PeerBook book_;
  transport::Refusals refusals_;
  uint64_t frames_ = 0;
  uint64_t fetches_ = 0;
  uint64_t cuts_ = 0;
  uint64_t meets_ = 0;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_SHELL_PEER_ACCESS_H_
