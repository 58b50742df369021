// worker/daemon/peer_port.h
//
// Connects one job's PeerPort with the worker's client to other workers.
#ifndef SKERRY_WORKER_DAEMON_PEER_PORT_H_
#define SKERRY_WORKER_DAEMON_PEER_PORT_H_

#include <string>

#include "base/ids.h"
#include "worker/core/effects.h"
#include "worker/daemon/peer_client.h"
#include "worker/daemon/seat_answers.h"

namespace skerry::worker {

// Members are called on the loop. `client` and `answers` outlive the object.
class JobPeerPort final : public PeerPort {
 public:
  JobPeerPort(JobId job, PeerClient& client, const SeatAnswers& answers);

  void AgreeCut(const std::string& head, const CutRequest& request,
                Done<absl::StatusOr<CutReply>> done) override;

 private:
  const JobId job_;
  PeerClient& client_;
  const SeatAnswers& answers_;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_PEER_PORT_H_
