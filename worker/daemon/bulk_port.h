// worker/daemon/bulk_port.h
//
// Connects one job's BulkPort with the worker's bulk transport.
#ifndef SKERRY_WORKER_DAEMON_BULK_PORT_H_
#define SKERRY_WORKER_DAEMON_BULK_PORT_H_

#include <set>
#include <string>
#include <vector>

#include "base/ids.h"
#include "protocol/job_facts.h"
#include "transport/bulk.h"
#include "transport/directory.h"
#include "worker/core/effects.h"
#include "worker/daemon/seat_answers.h"

namespace skerry::worker {

// Members are called on the loop. All that it is made with outlives it.
class JobBulkPort final : public BulkPort {
 public:
  JobBulkPort(JobId job, transport::BulkTransport& transport,
              const transport::Directory& directory,
              const SeatAnswers& answers);

  void SendFrame(const std::string& worker,
                 const compression::FrameHeader& header,
                 const SharedBytes& payload) override;
  void ForgetBefore(uint32_t fragment, Attempt attempt) override;
  void Fetch(const std::string& worker, const PieceKey& key,
             Done<absl::StatusOr<SharedBytes>> done) override;

  // What frames to each of the job's peers have shown of its link.
  std::vector<protocol::PeerLink> Links() const;

 private:
  const JobId job_;
  transport::BulkTransport& transport_;
  const transport::Directory& directory_;
  const SeatAnswers& answers_;
  std::set<std::string> peers_;  // the workers that frames went to
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_BULK_PORT_H_
