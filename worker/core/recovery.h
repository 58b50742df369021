// worker/core/recovery.h
//
// Brings the held spans to any committed sequence, and keeps the disk able to
// do so again (PROTOCOL 6). It takes a base from memory, disk, peers or the
// trainer's initial values, and then folds committed results in order. Workers
// use it when they start, join, catch up, or have lost power.
//
// Promises: A result is folded only if it is committed, durable here and has
// the committed hash. Fetched content is stored before it is used. A damaged
// file is deleted and its content fetched again.
#ifndef SKERRY_WORKER_CORE_RECOVERY_H_
#define SKERRY_WORKER_CORE_RECOVERY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "base/ids.h"
#include "base/instant.h"
#include "protocol/exchange.h"
#include "protocol/fragment_orders.h"
#include "protocol/peers.h"
#include "worker/core/effects.h"
#include "worker/core/fold.h"
#include "worker/core/history.h"
#include "worker/core/job_settings.h"
#include "worker/core/layout.h"
#include "worker/core/scope.h"

namespace skerry::worker {

using protocol::Source;
using protocol::SpanHolder;

struct RecoveryOptions {
  std::string worker;  // this worker, which is no source for itself
  absl::Duration retry_interval = absl::Milliseconds(250);
  int fetches_max = 8;
};

class Recovery {
 public:
  // `changed` runs after anything asynchronous has changed the answers below.
  // The references outlive this.
  using Changed = absl::AnyInvocable<void(Instant now)>;
  Recovery(RecoveryOptions options, History& history, const Effects& effects,
           Changed changed);

  // Sets what the job is; before any call below.
  // `begins_at`: of the state that is the trainer's initial values.
  void Configure(const JobSettings& settings, const Layout& layout,
                 Sequence begins_at = Sequence()) {
    settings_ = settings;
    layout_ = layout;
    begins_at_ = begins_at;
  }
  // Spans [begin, end) are held from now on; the state of spans held before and
  // after is kept.
  void SetHoldings(uint32_t begin, uint32_t end);
  // Has the history forget the commits that the coordinator has lost. None of
  // them is folded after that.
  void ForgetLost(const std::vector<CommittedEntry>& committed,
                  Sequence newest);
  // Gives up what is here of a lost history: its commits and bases at once, and
  // states once no life uses them.
  void Keep(const KeptState& kept);
  // Takes the view from every Orders: which workers hold what, from which
  // sequence others keep, and the newest commit.
  void SetView(std::vector<Source> sources, Sequence keep_from,
               Sequence newest = Sequence());
  // Sets the workers that may have results of spans that they no longer hold.
  // They are asked when no source has a result.
  void SetNeighbours(std::vector<SpanHolder> holders);
  // More holders of the result of `attempt`, asked after the sources.
  void SetPeers(Attempt attempt, std::vector<SpanHolder> holders);
  // The result of `attempt` may come by itself: not fetched before `until`.
  void Hold(Attempt attempt, Instant until);
  // Folds no further than this; a fold under way still ends.
  void SetTarget(Sequence target) { target_ = target; }
  // Sets whether states may be given up for newer bases. They may not while a
  // life uses them; gap() then tells what is missing.
  void SetReplaceable(bool replaceable) { replaceable_ = replaceable; }
  // Whether the trainer still has the initial values, so that they need not
  // be fetched.
  void SetInitialAtHand(bool at_hand) { initial_at_hand_ = at_hand; }
  // Starts whatever is possible.
  void Pump(Instant now);
  std::optional<Instant> NextDeadline() const { return deadline_; }

  // Whether a span can only start from the trainer's initial values, which the
  // caller then provides.
  bool WantsInitial() const;
  void OnInitial(Instant now, const TrainerMemory& memory);

  uint32_t begin() const { return begin_; }
  uint32_t end() const { return end_; }
  // Every held span has a state, all are of one sequence, and nothing is being
  // folded.
  bool ready() const;
  // The oldest sequence of any held span; 0 while one has no state.
  Sequence applied() const;
  Sequence stored_through() const;
  // Returns the oldest sequence of any held span, or of a base that is being
  // fetched. The worker needs others' results from there on. 0 while there is
  // none.
  Sequence pin() const;
  // A result that a life needs and nobody keeps: the life cannot go on.
  std::optional<Sequence> gap() const { return gap_; }
  // Samples committed up to and including applied(), once known.
  std::optional<uint64_t> samples_committed() const;
  // The attempt whose commit made the state at applied(); unset where that is
  // not known of some span.
  Attempt applied_attempt() const;
  // Null when the span is not held or has no state.
  const SpanState* StateOf(uint32_t span) const;
  // Makes the present state a base on disk. Requires: ready().
  void StoreBase();
  // The result is on disk already, or will be.
  void OnStored(const StoredFile& file);
  // Says with which values the job begins, in a job that may begin with
  // different ones; 0 while nobody knows. States and bases of other values are
  // given up, if no commit is in them. Returns whether there were any.
  // Requires: Configure() was called.
  bool BeginWith(uint64_t initial_hash);
  // The hash of the values whose state is held here; 0 when none is.
  uint64_t begun_with() const;
  // Every file is gone. The present state is stored anew.
  void OnFolderGone();
  // A piece for another worker, as the disk has it. Whether it has rotted is
  // looked at beside: then its file is given up, so that nobody is told any
  // more that it is here. Errors: NotFound; DataLoss.
  absl::StatusOr<SharedBytes> Read(const PieceKey& key);
  // The same without that look.
  absl::StatusOr<SharedBytes> Find(const PieceKey& key) const;

 private:
  // Ends what is under way; the states of the held spans are kept.
  void BeginAnew();
  // The state that the next commit makes, before it is asked for.
  struct Ahead {
    Attempt attempt;
    std::optional<absl::StatusOr<SpanState>> state;  // once it is there
  };
  struct Place {
    std::optional<SpanState> state;
    std::optional<Ahead> ahead;
    bool busy = false;
    std::optional<Sequence> fetching;  // of the base under way
    size_t tries = 0;
    Instant not_before;
    bool wants_initial = false;
    Sequence least_base;  // older ones lead nowhere
  };
  struct Missing {  // a result being fetched
    absl::btree_map<uint32_t, SharedBytes> got;
    absl::btree_map<uint32_t, size_t> tries;
    absl::btree_map<uint32_t, Instant> not_before;
    absl::btree_map<uint32_t, bool> busy;
    // Workers that have answered that they do not have the span's piece.
    absl::btree_map<uint32_t, absl::btree_set<std::string>> denied;
    Instant since;  // it is missed
    std::optional<StoredFile> storing;
  };

  // Gives up states of a lost history, and those that no commit continues
  // because an operator has kept a newer state of other workers.
  void GiveUpOutlived();
  void GiveUp(uint32_t span, Place& place, std::string_view why);
  // The hash for a state at `applied` that is made now.
  uint64_t InitialHashAt(Sequence applied) const;
  void ChooseBase(Instant now, uint32_t span);
  bool TryOwnBase(uint32_t span);
  bool TryFetchBase(Instant now, uint32_t span);
  void OnBase(Instant now, uint32_t span, absl::StatusOr<SpanState> state);
  // Whether the span has yet to fold the result, and it is not on disk.
  bool Needs(uint32_t span, const CommittedEntry& entry) const;
  bool HasNeeded(const CommittedEntry& entry) const;
  void PumpResults(Instant now);
  // Whether somebody has a base that makes this result needless.
  bool NewerBaseHeld(Sequence result, uint32_t span) const;
  void FetchResult(Instant now, const CommittedEntry& entry);
  // Whether only a newer base leads on.
  bool OnGap(const CommittedEntry& entry, uint32_t span);
  void FetchPiece(const CommittedEntry& entry, uint32_t span,
                  const std::string& worker);
  void StoreFetched(Sequence sequence);
  void OnFetchedStored(const StoredFile& file);
  // Sources say what they have; peers of the attempt may have had it.
  std::vector<std::string> HoldersOf(const CommittedEntry& entry, uint32_t span,
                                     const Missing& missing) const;
  std::vector<std::string> Everyone() const;
  void PumpFold();
  // Whether the present state of the fragment, which `next` ends, is part of
  // one of the job's that is saved.
  bool StandsAtSaved(const CommittedEntry& next) const;
  // Folds one span, if it has not been folded ahead.
  void FoldOne(const CommittedEntry& entry, uint32_t span,
               const StoredFile& file);
  // Folds what is committed and on disk before a boundary asks for it, so that
  // the trainer need not wait there.
  void FoldAhead(const CommittedEntry& entry, uint32_t span,
                 const StoredFile& file);
  static bool IsAhead(const Place& place, const CommittedEntry& entry);
  // Work that returns the state of the span after `entry`.
  absl::AnyInvocable<absl::StatusOr<SpanState>()> Folding(
      const CommittedEntry& entry, uint32_t span, const StoredFile& file);
  void OnFolded(Instant now, Sequence sequence, uint32_t span,
                const StoredFile& file, absl::StatusOr<SpanState> state);
  // Stores a base, which counts once it is durable.
  void KeepBase(const StoredFile& file, std::vector<SharedBytes> contents);
  void Discard(const StoredFile& file);
  // The piece is not what it was stored as.
  void OnRotten(const PieceKey& key);
  // Stores the newest state as a base after a stored result or base has rotted,
  // so that others can go on even if that was the only copy.
  void ReplaceRotten();
  void WakeAt(Instant when);
  Sequence FoldedOldest() const;
  // Makes the state from which no result leads on a base: it may be the newest
  // that is left of all.
  void KeepWhereStuck(Instant now);

  const RecoveryOptions options_;
  History& history_;
  const Effects effects_;
  Changed changed_;
  JobSettings settings_;
  Layout layout_;
  uint32_t begin_ = 0;
  uint32_t end_ = 0;
  std::vector<Source> sources_;
  std::vector<SpanHolder> neighbours_;
  Sequence keep_from_;
  Sequence newest_;
  KeptState kept_;
  std::pair<Attempt, std::vector<SpanHolder>> peers_;
  std::pair<Attempt, Instant> hold_;
  Sequence target_;
  bool replaceable_ = false;
  std::optional<Sequence> gap_;
  Sequence stuck_at_;               // a base was made there
  std::optional<Sequence> rotten_;  // a base from there on is owed
  absl::btree_map<uint32_t, Place> places_;
  absl::btree_map<Sequence, Missing> missing_;
  int fetches_ = 0;
  int folds_ = 0;
  bool initial_at_hand_ = false;
  Sequence begins_at_;
  bool from_initial_ = false;
  uint64_t initial_hash_ = 0;
  std::pair<Sequence, uint64_t> samples_committed_;
  std::pair<Sequence, uint64_t> state_;  // of the job, of several fragments
  std::optional<Instant> deadline_;
  Scope work_;  // ends with the holdings
  Scope disk_;  // lives as long as this
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_RECOVERY_H_
