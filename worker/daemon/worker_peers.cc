// What the other workers of a replica ask this one, its head.
#include <optional>
#include <string>
#include <utility>

#include "worker/convert/peer.h"
#include "worker/daemon/worker_daemon.h"

namespace skerry::worker {

void WorkerDaemon::OnAgreeCut(const v1::AgreeCutRequest& request,
                              const std::optional<std::string>& worker,
                              Answer<v1::AgreeCutReply> answer) {
  const absl::StatusOr<CutRequest> checked = CutRequestFromProto(request);
  if (!checked.ok()) return std::move(answer)(checked.status());
  shell_.OnAgreeCut(
      JobId(request.job()), *checked, worker,
      [answer = std::move(answer)](absl::StatusOr<CutReply> reply) mutable {
        if (!reply.ok()) return std::move(answer)(reply.status());
        v1::AgreeCutReply out;
        CutReplyToProto(*reply, &out);
        std::move(answer)(std::move(out));
      });
}

void WorkerDaemon::OnMeet(const v1::MeetRequest& request,
                          const std::optional<std::string>& worker,
                          Answer<v1::MeetReply> answer) {
  const absl::StatusOr<MeetRequest> checked = MeetRequestFromProto(request);
  if (!checked.ok()) return std::move(answer)(checked.status());
  shell_.OnMeet(JobId(request.job()), *checked, worker,
                [answer = std::move(answer)](
                    absl::StatusOr<std::string> bootstrap) mutable {
                  if (!bootstrap.ok())
                    return std::move(answer)(bootstrap.status());
                  v1::MeetReply out;
                  out.set_bootstrap(*std::move(bootstrap));
                  std::move(answer)(std::move(out));
                });
}

}  // namespace skerry::worker
