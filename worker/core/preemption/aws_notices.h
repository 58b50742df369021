// worker/core/preemption/aws_notices.h
//
// Reads interruption notices of EC2 spot instances, over IMDSv2. A
// recommendation to rebalance is not a notice, because the instance may stay
// for hours after it.
#ifndef SKERRY_WORKER_CORE_PREEMPTION_AWS_NOTICES_H_
#define SKERRY_WORKER_CORE_PREEMPTION_AWS_NOTICES_H_

#include <string>

#include "worker/core/preemption/metadata_source.h"

namespace skerry::worker {

class AwsNotices final : public MetadataSource {
 public:
  MetadataRequest Next() const override;
  absl::StatusOr<Finding> OnReply(const MetadataReply& reply,
                                  absl::Time now) override;
  absl::Duration pause() const override { return absl::Seconds(5); }

 private:
  absl::StatusOr<Finding> OnToken(const MetadataReply& reply);

  std::string token_;   // empty: one has to be asked for
  bool fresh_ = false;  // nothing was asked with the token yet
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_PREEMPTION_AWS_NOTICES_H_
