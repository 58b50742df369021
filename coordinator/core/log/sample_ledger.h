// coordinator/core/log/sample_ledger.h
//
// Records who may train on which samples. Every position of [0, samples) is
// free, leased to one life, or consumed, and never two of these (PROTOCOL 5.5).
//
// In a job with several fragments, each fragment has a contribution that covers
// a position. The first one that is committed consumes the position. In the
// other fragments it is then due for as long as the life that trained on it
// goes on. A position that is dropped in one fragment stays with the life until
// it is dropped in all.
#ifndef SKERRY_COORDINATOR_CORE_LOG_SAMPLE_LEDGER_H_
#define SKERRY_COORDINATOR_CORE_LOG_SAMPLE_LEDGER_H_

#include <cstdint>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "base/ids.h"
#include "coordinator/core/log/snapshot.h"
#include "coordinator/core/log/state_hash.h"
#include "data/sample_ranges.h"

namespace skerry::coordinator {

class SampleLedger {
 public:
  // `consumed` before the job began.
  explicit SampleLedger(uint64_t samples, data::RangeSet consumed = {},
                        size_t fragments = 1);

  // --- Fold. Errors: DataLoss when the positions are not where they have to
  // be; nothing has changed then.
  absl::Status Grant(Life life, const data::RangeSet& ranges);
  // Records that a contribution was dropped, which covered these samples of
  // Deliverable(). Samples that no fragment can commit any more become free,
  // but never again for that life, whose worker counts them as used.
  absl::Status Return(Life life, FragmentId fragment,
                      const data::RangeSet& ranges);
  // Records that a contribution was committed. Samples that others have
  // consumed are left alone. If the life goes on, all samples must be
  // deliverable.
  absl::Status Consume(Life life, FragmentId fragment,
                       const data::RangeSet& ranges);
  // The life is over. What an open attempt names stays with it.
  void End(Life life, const data::RangeSet& named);
  // Frees the samples of ended lives that the open attempts do not name.
  // `named` are those that they name.
  void KeepNamed(const data::RangeSet& named);

  // Just these are consumed now, and all others are free. Requires: every life
  // has ended.
  void GoBack(const data::RangeSet& consumed);

  LedgerSnapshot Save() const;
  // Into a new ledger. Errors: DataLoss unless the three kinds cover
  // [0, samples) once.
  absl::Status Restore(const LedgerSnapshot& saved);

  const data::RangeSet& free() const { return free_; }
  const data::RangeSet& consumed() const { return consumed_; }
  bool AllConsumed() const { return consumed_.total() == samples_; }
  data::RangeSet LeasedTo(Life life) const;
  // Returns the samples that a contribution of the fragment may cover: leased
  // or due in it, and not dropped in it before.
  data::RangeSet Deliverable(Life life, FragmentId fragment) const;
  // What was dropped in some fragment and stays with the life.
  data::RangeSet Missed(Life life) const;
  // Whether something is due in any fragment.
  bool HasDue(Life life) const;
  bool AnyDue() const;
  // The lowest `count` positions that may be granted to `life`, or fewer.
  data::RangeSet Pick(Life life, uint64_t count) const;
  // Whether positions are free that were dropped by `life`.
  bool HasFreeDroppedBy(Life life) const;

  void HashInto(StateHasher& hasher) const;
  // Stops the process unless the three kinds cover [0, samples) once.
  void CheckInvariants() const;

 private:
  bool CoversOnce() const;

  struct Holding {
    data::RangeSet leased;
    data::RangeSet dropped;
    bool ended = false;
    // By fragment; empty in a job with one. Samples that are consumed for this
    // life and not yet in that fragment, and those of `leased` that the
    // fragment has dropped.
    std::vector<data::RangeSet> due;
    std::vector<data::RangeSet> missed;
  };
  Holding& Hold(Life life);

  const uint64_t samples_;
  const size_t fragments_;
  data::RangeSet free_;
  data::RangeSet consumed_;
  absl::btree_map<Life, Holding> holdings_;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_LOG_SAMPLE_LEDGER_H_
