// worker/core/preemption/azure_notices.h
//
// Reads Azure's scheduled events that end or restart this virtual machine. A
// freeze is not a notice, because the machine goes on after it. The worker
// approves no event, because other programs of the machine may still need their
// time.
#ifndef SKERRY_WORKER_CORE_PREEMPTION_AZURE_NOTICES_H_
#define SKERRY_WORKER_CORE_PREEMPTION_AZURE_NOTICES_H_

#include <string>

#include "worker/core/preemption/metadata_source.h"

namespace skerry::worker {

class AzureNotices final : public MetadataSource {
 public:
  MetadataRequest Next() const override;
  absl::StatusOr<Finding> OnReply(const MetadataReply& reply,
                                  absl::Time now) override;
  absl::Duration pause() const override { return absl::Seconds(1); }

 private:
  // The machine's name, because the service tells of the events of all machines
  // of a set. Empty before it is known.
  std::string machine_;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_PREEMPTION_AZURE_NOTICES_H_
