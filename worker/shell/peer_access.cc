#include "worker/shell/peer_access.h"

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "runtime/log.h"

namespace skerry::worker {

std::optional<uint64_t> PeerAccess::Count(uint64_t& what, Instant now) {
  ++what;
  // The loop's clock serves to count lines.
  return refusals_.Count(absl::UnixEpoch() + (now - Instant()));
}

bool PeerAccess::MaySend(const std::string& from,
                         const compression::FrameHeader& header, Instant now) {
  if (book_.MaySpeakFor(JobId(header.job), ReplicaId(header.sender), from)) {
    return true;
  }
  if (const auto unsaid = Count(frames_, now)) {
    runtime::Log(runtime::Severity::kWarning, "worker.frame.refused",
                 {{"from", from},
                  {"job", header.job},
                  {"replica", header.sender},
                  {"cause", "it is not a worker of this replica"},
                  {"more_refused", *unsaid}});
  }
  return false;
}

absl::Status PeerAccess::CheckFetch(const transport::Fetcher& fetcher,
                                    JobId job, Instant now) {
  if (!fetcher.is_worker) return absl::OkStatus();
  switch (book_.MayFetch(job, fetcher.name, now)) {
    case PeerBook::FetchRight::kYes:
      return absl::OkStatus();
    case PeerBook::FetchRight::kNotYet:
      return absl::UnavailableError(absl::StrCat(
          "the orders of worker ", self_, " do not name ", fetcher.name,
          " as a worker of job ", job.value(), " yet; ask again"));
    case PeerBook::FetchRight::kNo:
      break;
  }
  const absl::Status refused = absl::PermissionDeniedError(
      absl::StrCat("the orders of worker ", self_, " do not name ",
                   fetcher.name, " as a worker of job ", job.value()));
  if (const auto unsaid = Count(fetches_, now)) {
    runtime::Log(runtime::Severity::kWarning, "worker.fetch.refused",
                 {{"from", fetcher.name},
                  {"job", job.value()},
                  {"cause", "it is not a worker of this job"},
                  {"more_refused", *unsaid}});
  }
  return refused;
}

absl::Status PeerAccess::CheckCut(const std::optional<std::string>& worker,
                                  JobId job, const CutRequest& request,
                                  Instant now) {
  return CheckRank(worker, job, request.life, request.rank, now, cuts_,
                   "worker.cut.refused");
}

absl::Status PeerAccess::CheckMeet(const std::optional<std::string>& worker,
                                   JobId job, const MeetRequest& request,
                                   Instant now) {
  return CheckRank(worker, job, request.life, request.rank, now, meets_,
                   "worker.meet.refused");
}

absl::Status PeerAccess::CheckRank(const std::optional<std::string>& worker,
                                   JobId job, Life life, uint32_t rank,
                                   Instant now, uint64_t& what,
                                   std::string_view event) {
  if (!worker.has_value() || book_.MayAskCut(job, life, rank, *worker)) {
    return absl::OkStatus();
  }
  if (const auto unsaid = Count(what, now)) {
    runtime::Log(runtime::Severity::kWarning, event,
                 {{"from", *worker},
                  {"job", job.value()},
                  {"rank", rank},
                  {"cause", "another worker has this rank of the replica"},
                  {"more_refused", *unsaid}});
  }
  return absl::PermissionDeniedError(absl::StrCat(
      "worker ", *worker, " does not have rank ", rank,
      " of the replica of worker ", self_, " in job ", job.value()));
}

void PeerAccess::AddMetrics(std::vector<runtime::Metric>& metrics) const {
  const auto sample = [](const char* what, uint64_t count) {
    return runtime::Sample{{{"what", what}}, static_cast<double>(count)};
  };
  metrics.push_back({"skerry_worker_refused_total",
                     "What other workers asked and sent that they may not.",
                     runtime::Metric::Kind::kCounter,
                     {sample("frame", frames_), sample("fetch", fetches_),
                      sample("cut", cuts_), sample("meet", meets_)}});
}

}  // namespace skerry::worker
