// coordinator/core/log/coverage.h
//
// Tells which samples each fragment of a job has taken in, at its newest
// sequence and at the ones before. In a job with one fragment, these are the
// samples that the ledger has consumed.
#ifndef SKERRY_COORDINATOR_CORE_LOG_COVERAGE_H_
#define SKERRY_COORDINATOR_CORE_LOG_COVERAGE_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "base/ids.h"
#include "coordinator/core/log/snapshot.h"
#include "coordinator/core/log/state_hash.h"
#include "data/sample_ranges.h"

namespace skerry::coordinator {

class Coverage {
 public:
  // `before` is what every fragment has taken in before the job begins.
  Coverage(const data::RangeSet& before, size_t fragments)
      : covered_(fragments, before), taken_(fragments) {}

  // The fragment's next sequence takes in `ranges`.
  void Commit(FragmentId fragment, Sequence sequence,
              const data::RangeSet& ranges);
  // Replaces what the fragments have taken in, and forgets earlier sequences.
  // Requires: one set for each fragment.
  void GoBack(std::vector<data::RangeSet> covered);

  const data::RangeSet& Of(FragmentId fragment) const {
    return covered_[fragment.value()];
  }
  // Returns what the fragment had taken in at `sequence`, or nothing when that
  // is not known any more. Requires: `newest` is its newest sequence.
  std::optional<data::RangeSet> At(FragmentId fragment, Sequence sequence,
                                   Sequence newest) const;
  // Returns the samples that some fragments have taken in and others have not.
  data::RangeSet Partly() const;

  CoverageSnapshot Save() const;
  // Restores into a new object. In a job with one fragment, what it has taken
  // in is `consumed`, which is what the job has consumed. Errors: DataLoss when
  // `saved` has another number of fragments.
  absl::Status Restore(const CoverageSnapshot& saved,
                       const data::RangeSet& consumed);
  // Adds nothing in a job with one fragment.
  void HashInto(StateHasher& hasher) const;

 private:
  std::vector<data::RangeSet> covered_;
  // By fragment, the samples that each of its latest sequences took in. They
  // are not part of the hash.
  std::vector<absl::btree_map<Sequence, data::RangeSet>> taken_;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_LOG_COVERAGE_H_
