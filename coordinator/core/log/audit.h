// coordinator/core/log/audit.h
//
// Checks that every sample was used exactly once in the current history.
// Commits that were lost when the job went back do not count. The audit uses
// only the attempts and commits in the journal, and for records that a snapshot
// replaced, the totals in the snapshot.
#ifndef SKERRY_COORDINATOR_CORE_LOG_AUDIT_H_
#define SKERRY_COORDINATOR_CORE_LOG_AUDIT_H_

#include <cstdint>
#include <vector>

#include "absl/container/btree_map.h"
#include "base/ids.h"
#include "coordinator/core/log/records.h"
#include "coordinator/core/log/snapshot.h"
#include "data/sample_ranges.h"

namespace skerry::coordinator {

struct AuditReport {
  uint64_t samples_total = 0;
  uint64_t samples_committed = 0;
  uint64_t commits = 0;
  uint64_t contributions = 0;
  data::RangeSet missing;
  data::RangeSet doubled;
  // Given out again after a life ended or a contribution was dropped.
  uint64_t samples_returned = 0;
  // In some fragments and not in all.
  uint64_t samples_partly = 0;
  uint32_t fragments = 1;
  friend bool operator==(const AuditReport&, const AuditReport&) = default;
};

// Follows the records of one job. Records of other jobs are ignored, so a
// whole journal can be fed to it.
class Audit {
 public:
  // `consumed` before the job began; it counts as committed, and as doubled
  // when it is committed again.
  Audit(JobId job, uint64_t samples_total, data::RangeSet consumed = {},
        uint32_t fragments = 1);

  void Add(const Entry& entry);
  AuditReport Report() const;
  // Returns what the report says, without the work of making one.
  uint64_t samples_returned() const { return samples_returned_; }

  AuditSnapshot Save() const;
  // Into a new audit of the same job.
  void Restore(const AuditSnapshot& saved);

 private:
  const JobId job_;
  const uint64_t samples_total_;
  const data::RangeSet consumed_before_;
  const uint32_t fragments_;
  // What the open attempt of each fragment names, by attempt.
  struct Open {
    Attempt attempt;
    uint64_t contributions = 0;
    std::vector<data::RangeSet> ranges;
  };
  absl::btree_map<FragmentId, Open> open_;
  // By fragment: a sample is committed when the first fragment has it, and
  // doubled when one fragment has it twice.
  absl::btree_map<FragmentId, data::RangeSet> committed_;
  // What the state in each checkpoint has taken in, by fragment.
  absl::btree_map<Sequence, std::vector<data::RangeSet>> checkpoints_;
  data::RangeSet doubled_;
  data::RangeSet ever_granted_;
  uint64_t samples_returned_ = 0;
  uint64_t commits_ = 0;
  uint64_t contributions_ = 0;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_LOG_AUDIT_H_
