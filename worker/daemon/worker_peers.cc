// What the other workers of a replica ask this one, its head.
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "worker/convert/peer.h"
#include "worker/daemon/worker_daemon.h"

namespace skerry::worker {

void WorkerDaemon::OnAgreeCut(const v1::AgreeCutRequest& request,
                              const std::optional<std::string>& worker,
                              Answer<v1::AgreeCutReply> answer) {
  const auto job = jobs_.find(request.job());
  if (job == jobs_.end()) {
    return std::move(answer)(absl::UnavailableError(
        absl::StrCat(options_.name, " does not serve job ", request.job())));
  }
  absl::StatusOr<CutRequest> checked = CutRequestFromProto(request);
  const absl::Status may =
      checked.ok() ? access_.CheckCut(worker, JobId(request.job()), *checked,
                                      environment_.loop.Now())
                   : checked.status();
  if (!may.ok()) {
    std::move(answer)(may);
    return;
  }
  job->second->OnAgreeCut(
      *checked,
      [answer = std::move(answer)](absl::StatusOr<CutReply> reply) mutable {
        if (!reply.ok()) {
          std::move(answer)(reply.status());
          return;
        }
        v1::AgreeCutReply out;
        CutReplyToProto(*reply, &out);
        std::move(answer)(std::move(out));
      });
}

void WorkerDaemon::OnMeet(const v1::MeetRequest& request,
                          const std::optional<std::string>& worker,
                          Answer<v1::MeetReply> answer) {
  const auto job = jobs_.find(request.job());
  if (job == jobs_.end()) {
    return std::move(answer)(absl::UnavailableError(
        absl::StrCat(options_.name, " does not serve job ", request.job())));
  }
  absl::StatusOr<MeetRequest> checked = MeetRequestFromProto(request);
  const absl::Status may =
      checked.ok() ? access_.CheckMeet(worker, JobId(request.job()), *checked,
                                       environment_.loop.Now())
                   : checked.status();
  if (!may.ok()) return std::move(answer)(may);
  job->second->OnMeet(*checked,
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
