#include "worker/daemon/peer_port.h"

#include <utility>

#include "worker/convert/peer.h"

namespace skerry::worker {

JobPeerPort::JobPeerPort(JobId job, PeerClient& client,
                         const SeatAnswers& answers)
    : job_(job), client_(client), answers_(answers) {}

void JobPeerPort::AgreeCut(const std::string& head, const CutRequest& request,
                           Done<absl::StatusOr<CutReply>> done) {
  v1::AgreeCutRequest out;
  CutRequestToProto(job_, request, &out);
  client_.AgreeCut(head, std::move(out),
                   [answer = answers_.Wrap(std::move(done))](
                       absl::StatusOr<v1::AgreeCutReply> reply) mutable {
                     if (reply.ok()) {
                       answer(CutReplyFromProto(*reply));
                     } else {
                       answer(reply.status());
                     }
                   });
}

}  // namespace skerry::worker
