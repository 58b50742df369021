#include "worker/daemon/bulk_port.h"

#include <utility>

#include "runtime/log.h"

namespace skerry::worker {
JobBulkPort::JobBulkPort(JobId job, transport::BulkTransport& transport,
                         const transport::Directory& directory,
                         const SeatAnswers& answers)
    : job_(job),
      transport_(transport),
      directory_(directory),
      answers_(answers) {}

void JobBulkPort::SendFrame(const std::string& worker,
                            const compression::FrameHeader& header,
                            const SharedBytes& payload) {
  peers_.insert(worker);
  transport_.Send(worker, {header, payload}, transport::TrafficClass::kBulk,
                  [worker](absl::Status status) {
                    // A refused or forgotten frame belonged to an old attempt.
                    if (status.ok() || absl::IsAborted(status) ||
                        absl::IsCancelled(status)) {
                      return;
                    }
                    runtime::Log(runtime::Severity::kWarning,
                                 "worker.frame.unsent",
                                 {{"peer", worker}, {"cause", status}});
                  });
}

std::vector<protocol::PeerLink> JobBulkPort::Links() const {
  std::vector<protocol::PeerLink> links;
  for (const auto& [worker, estimate] : transport_.links()) {
    if (!peers_.contains(worker)) continue;
    links.push_back({worker, estimate.bytes_per_s, estimate.rate_spread,
                     absl::ToDoubleSeconds(estimate.round_trip),
                     absl::ToDoubleSeconds(estimate.round_trip_spread),
                     directory_.EndpointOf(worker)});
  }
  return links;
}

void JobBulkPort::ForgetBefore(uint32_t fragment, Attempt attempt) {
  transport_.ForgetBefore(job_.value(), fragment, attempt.value());
  transport_.Reoffer(job_.value(), fragment);
}

void JobBulkPort::Fetch(const std::string& worker, const PieceKey& key,
                        Done<absl::StatusOr<SharedBytes>> done) {
  PieceKey own = key;
  own.job = job_;
  transport_.Fetch(worker, own, answers_.Wrap(std::move(done)));
}

}  // namespace skerry::worker
