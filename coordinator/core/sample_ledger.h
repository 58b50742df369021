// coordinator/core/sample_ledger.h
//
// Who may train on which samples: every position of [0, samples) is free,
// leased to one life, or consumed, and never two of these (PROTOCOL 5.5).
#ifndef SKERRY_COORDINATOR_CORE_SAMPLE_LEDGER_H_
#define SKERRY_COORDINATOR_CORE_SAMPLE_LEDGER_H_

#include <cstdint>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "base/ids.h"
#include "coordinator/core/snapshot.h"
#include "coordinator/core/state_hash.h"
#include "data/sample_ranges.h"

namespace skerry::coordinator {

class SampleLedger {
 public:
  // `consumed` before the job began.
  explicit SampleLedger(uint64_t samples, data::RangeSet consumed = {});

  // --- Fold. Errors: DataLoss when the positions are not where they have to
  // be; nothing has changed then.
  absl::Status Grant(Life life, const data::RangeSet& ranges);
  // A contribution was dropped: its positions are free, but never again for
  // that life, whose worker counts them as used.
  absl::Status Return(Life life, const data::RangeSet& ranges);
  absl::Status Consume(Life life, const data::RangeSet& ranges);
  // The life is over. What an open attempt names stays with it.
  void End(Life life, const data::RangeSet& named);
  // The open attempts now name just these: whatever else an ended life still
  // had is free.
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
  };

  const uint64_t samples_;
  data::RangeSet free_;
  data::RangeSet consumed_;
  absl::btree_map<Life, Holding> holdings_;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_SAMPLE_LEDGER_H_
