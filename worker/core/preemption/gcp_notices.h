// worker/core/preemption/gcp_notices.h
//
// Reads preemption notices of Compute Engine's spot machines, by a request that
// the service answers when there is something new.
#ifndef SKERRY_WORKER_CORE_PREEMPTION_GCP_NOTICES_H_
#define SKERRY_WORKER_CORE_PREEMPTION_GCP_NOTICES_H_

#include <string>

#include "worker/core/preemption/metadata_source.h"

namespace skerry::worker {

class GcpNotices final : public MetadataSource {
 public:
  MetadataRequest Next() const override;
  absl::StatusOr<Finding> OnReply(const MetadataReply& reply,
                                  absl::Time now) override;
  // A service that does not wait for a change is not asked more often.
  absl::Duration pause() const override { return absl::Seconds(1); }

 private:
  // Names the value that was read last. Empty before the first one.
  std::string etag_;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_PREEMPTION_GCP_NOTICES_H_
