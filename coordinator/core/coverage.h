// coordinator/core/coverage.h
//
// Which samples each fragment of a job has taken in, now and at the newest of
// its sequences before. With one fragment that is what the ledger has consumed.
#ifndef SKERRY_COORDINATOR_CORE_COVERAGE_H_
#define SKERRY_COORDINATOR_CORE_COVERAGE_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "base/ids.h"
#include "coordinator/core/snapshot.h"
#include "coordinator/core/state_hash.h"
#include "data/sample_ranges.h"

namespace skerry::coordinator {

class Coverage {
 public:
  // `before`: what every fragment has taken in before the job began.
  Coverage(const data::RangeSet& before, size_t fragments)
      : covered_(fragments, before), taken_(fragments) {}

  // The fragment's next sequence takes in `ranges`.
  void Commit(FragmentId fragment, Sequence sequence,
              const data::RangeSet& ranges);
  // Just these are taken in now. Requires: one for each fragment.
  void GoBack(std::vector<data::RangeSet> covered);

  const data::RangeSet& Of(FragmentId fragment) const {
    return covered_[fragment.value()];
  }
  // What the fragment had taken in at `sequence`; nothing when that is not
  // known any more. Requires: `newest` is its newest sequence.
  std::optional<data::RangeSet> At(FragmentId fragment, Sequence sequence,
                                   Sequence newest) const;
  // In some fragment and not in all.
  data::RangeSet Partly() const;

  CoverageSnapshot Save() const;
  // Into a new one; `consumed` by the job is all that one fragment has taken
  // in. Errors: DataLoss for another number of fragments.
  absl::Status Restore(const CoverageSnapshot& saved,
                       const data::RangeSet& consumed);
  // Nothing with one fragment.
  void HashInto(StateHasher& hasher) const;

 private:
  std::vector<data::RangeSet> covered_;
  // Of the newest sequences; no part of the hash.
  std::vector<absl::btree_map<Sequence, data::RangeSet>> taken_;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_COVERAGE_H_
