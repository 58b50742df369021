// coordinator/core/log/round_machine.h
//
// Holds the history of one fragment: which attempt is open, what is committed,
// who was blamed for the sequence in progress, and what became of
// contributions. It is the fold of Opened, Committed, Dropped and ReplicaEnded
// (PROTOCOL 5).
//
// Blame is not written down. A replica was blamed for a sequence if it was a
// member of one attempt and is not a member of the next attempt of the same
// sequence. A replica that is a member again is forgiven.
#ifndef SKERRY_COORDINATOR_CORE_LOG_ROUND_MACHINE_H_
#define SKERRY_COORDINATOR_CORE_LOG_ROUND_MACHINE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/status/status.h"
#include "base/ids.h"
#include "coordinator/core/log/records.h"
#include "coordinator/core/log/snapshot.h"
#include "coordinator/core/log/state_hash.h"
#include "data/sample_ranges.h"
#include "protocol/contribution.h"
#include "protocol/exchange.h"

namespace skerry::coordinator {

// Whether both name the same contributions of the same lives, in one order.
bool SameContributions(const std::vector<Member>& a,
                       const std::vector<Member>& b);

struct OpenAttempt {
  Attempt attempt;
  Opened opened;

  // Null when the life is not a member.
  const Member* FindLife(Life life) const;
};

class RoundMachine {
 public:
  explicit RoundMachine(FragmentId fragment) : fragment_(fragment) {}

  // --- Fold. Errors: DataLoss when the record does not follow.
  absl::Status Apply(Attempt index, const Opened& record);
  // `samples_committed`: of the fragment, this commit included. `state`: of the
  // job then, or 0 with one fragment.
  absl::Status Apply(const Committed& record, uint64_t samples_committed,
                     uint64_t state = 0);
  absl::Status Apply(const Dropped& record);
  // Sets `sequence` to a state that nobody exchanged. The sequences between the
  // newest and it have no attempt, and the newest stays what it is. Requires:
  // every life has ended; `sequence` is not before the newest.
  void GoOnAt(Sequence sequence, uint64_t samples_committed,
              uint64_t state = 0);
  void Apply(const ReplicaEnded& record);

  FragmentSnapshot Save() const;
  // Into a new machine. Errors: DataLoss when the history has a gap or the open
  // attempt is not for the sequence after it.
  absl::Status Restore(const FragmentSnapshot& saved);

  FragmentId fragment() const { return fragment_; }
  Sequence newest() const { return Sequence(history_.size()); }
  // Returns the newest sequence that was set without an exchange, because the
  // job went back or an operator kept what workers hold. Unset when there is
  // none. States before it are of no use.
  Sequence floor() const { return floor_; }
  // Entry i is sequence i + 1.
  const std::vector<CommittedEntry>& history() const { return history_; }
  const std::optional<OpenAttempt>& open() const { return open_; }
  // Returns the newest attempt that is over. It is no part of the snapshot, so
  // it is unset after a restart until an attempt has ended.
  const std::optional<OpenAttempt>& closed() const { return closed_; }
  // Attempts of the sequence after the newest, so far.
  uint32_t tries() const { return tries_; }
  // The open attempt repeats the members of the one before it.
  bool repeated_members() const { return repeated_members_; }
  const absl::btree_set<ReplicaId>& blamed() const { return blamed_; }
  // What became of the newest decided contribution of a life.
  std::optional<Outcome> OutcomeOf(Life life) const;
  // Samples that the open attempt names.
  data::RangeSet NamedRanges() const;
  uint64_t attempts_total() const { return attempts_total_; }
  uint64_t dropped_total() const { return dropped_total_; }

  void HashInto(StateHasher& hasher) const;

 private:
  const FragmentId fragment_;
  std::vector<CommittedEntry> history_;
  Sequence floor_;
  std::optional<OpenAttempt> open_;
  std::optional<OpenAttempt> closed_;
  uint32_t tries_ = 0;
  bool repeated_members_ = false;
  absl::btree_set<ReplicaId> blamed_;
  absl::btree_map<Life, Outcome> outcomes_;
  absl::btree_set<Life> ended_members_;
  uint64_t attempts_total_ = 0;
  uint64_t dropped_total_ = 0;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_LOG_ROUND_MACHINE_H_
