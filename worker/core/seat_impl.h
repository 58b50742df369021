// worker/core/seat_impl.h
//
// The state behind Seat, in four sources: seat.cc takes facts and answers
// questions, seat_round.cc walks through boundaries, seat_exchange.cc follows
// attempts and outcomes, seat_trainer.cc talks to the trainer.
//
// Every fact ends in Advance(), which does whatever has become possible; so the
// order in which facts arrive decides nothing that the protocol does not.
#ifndef SKERRY_WORKER_CORE_SEAT_IMPL_H_
#define SKERRY_WORKER_CORE_SEAT_IMPL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "worker/core/cut_agreement.h"
#include "worker/core/exchange.h"
#include "worker/core/history.h"
#include "worker/core/live.h"
#include "worker/core/owed_book.h"
#include "worker/core/patient_disk.h"
#include "worker/core/recovery.h"
#include "worker/core/scope.h"
#include "worker/core/seat.h"

namespace skerry::worker {

class Seat::Impl {
 public:
  Impl(SeatOptions options, const Effects& effects);
  ~Impl();

  void OnOrders(Instant now, Revision revision, const JobOrders& orders);
  void OnTrainerReady(Instant now, const TrainerDescription& trainer);
  void OnImported(Instant now, const StoredFile& base);
  void OnTrainerFailed(Instant now, const std::string& reason);
  void OnLifeLost(Instant now, const std::string& reason);
  void SetDraining(Instant now, bool draining);
  FrameVerdict OnFrame(Instant now, const compression::FrameHeader& header,
                       const SharedBytes& payload);
  absl::StatusOr<SharedBytes> OnFetch(const PieceKey& key);
  void OnAgreeCut(Instant now, const CutRequest& request, CutAnswer answer);
  std::optional<Instant> NextDeadline() const;
  void OnTime(Instant now);
  void Advance(Instant now);
  JobFacts Facts() const;
  Audit GetAudit() const { return book_.GetAudit(); }
  Values AnchorOf(uint32_t span) const;
  Values OwedOf(uint32_t span) const;

 private:
  // Where the seat is in its round. The trainer is asked for something in the
  // steps that end in -ing.
  enum class Step {
    kAway,          // no life: folding what is committed
    kJoin,          // a life, not in its group yet
    kJoining,       //
    kCut,           // at a boundary: the cut is not known
    kFold,          // applying through the cut
    kMerging,       // writing the next start
    kLoading,       //
    kStart,         // ready to start the round, after what else was asked
    kRunning,       //
    kRunEnded,      // waiting for the last outcome
    kSnapshotting,  //
    kAdding,        // owed += w * (start - live)
    kReady,         // a contribution is pending; without delay, wait for it
    kClose,         // the job is over: fold everything, load the anchor
    kResting,
  };

  // --- seat.cc ---
  void TakeOrders(Instant now);
  bool Configure();
  absl::Status CheckOrders() const;
  void TakeHoldings();
  void TakeLife(Instant now);
  // Whether every held span has a state to fold on.
  bool HoldsState() const;
  void EndLife(const std::string& reason);
  // Leaves the life by itself; the coordinator hears it.
  void Abandon(Instant now, const std::string& reason);
  void Fail(Instant now, const std::string& reason);
  void OnDisk(Instant now);
  // Empty while it stores.
  std::string DiskError() const;
  bool Works() const { return failure_.empty() && disk_.error().empty(); }
  void AdvanceOnce(Instant now);
  void CountStall(Instant now);
  // Calls for a Status when anything that the coordinator decides by has
  // changed: it must not wait for the next heartbeat.
  void ConsiderStatus();
  SeatState State() const;

  // --- seat_phase.cc ---
  std::string_view PhaseOfRound() const;
  // Empty without an open attempt.
  std::string_view PhaseOfExchange() const;
  // One event for each change.
  void ReportPhase();
  void DeleteFiles();
  void Changed() { effects_.host.StatusChanged(); }
  bool over() const { return orders_ && IsOver(orders_->phase); }
  bool StartsRounds() const { return !draining_ && !orders_->paused; }

  // --- seat_round.cc ---
  bool StepOnce(Instant now);
  bool StepAway(Instant now);
  bool StepJoin(Instant now);
  bool StepCut(Instant now);
  void AskCut(Instant now);
  void DecideCut(Instant now);
  void OnCut(Instant now, absl::StatusOr<CutReply> reply);
  bool StepFold(Instant now);
  void StartMerge(Instant now, bool at_anchor, Step after);
  bool StepStart(Instant now);
  void StartRun(const data::RangeSet& ranges);
  void OnRun(Instant now, uint64_t samples, absl::StatusOr<RunReport> report);
  bool StepRunEnded(Instant now);
  void AddRound(Instant now);
  bool StepReady();
  bool StepClose(Instant now);
  int Delay() const;
  bool Final() const;
  uint32_t group_size() const {
    return static_cast<uint32_t>(orders_->holders.size());
  }
  uint64_t replica_batch() const {
    return uint64_t{orders_->settings.batch_samples} * group_size();
  }

  // --- seat_exchange.cc ---
  void ConsiderOutcome(Instant now);
  void ConsiderExchange(Instant now);
  void OpenAttempt(const OpenExchange& open, uint32_t self);
  void OnExchangeEnd(Instant now, absl::Status status);
  void CloseExchange();

  // --- seat_trainer.cc ---
  bool trainer_free() const { return trainer_ready_ && trainer_uses_ == 0; }
  // A handler of a trainer's answer. It is skipped when the life has ended, and
  // the trainer counts as used until it ran.
  template <typename T, typename Handler>
  Done<T> OnTrainer(Handler handler);
  void OnTrainerError(Instant now, const absl::Status& status);
  void ConsiderInitial(Instant now);
  // Starts one evaluation or generation that is due; true when it did.
  bool RunTask(Instant now);
  bool RunEvaluation();
  bool RunGeneration();

  const SeatOptions options_;
  PatientDisk disk_;
  const Effects effects_;  // with that disk
  // Before all whose callbacks they silence.
  Scope seat_scope_;
  Scope trainer_scope_;  // ends with the trainer
  Scope life_scope_;     // ends with the life
  std::optional<JobOrders> orders_;
  Revision revision_;
  bool advancing_ = false;
  bool again_ = false;
  bool draining_ = false;
  Sequence drained_at_;  // of the last base stored for it
  std::string failure_;

  // Trainer.
  std::optional<TrainerDescription> trainer_;
  bool trainer_ready_ = false;
  int trainer_uses_ = 0;
  bool restarting_ = false;
  bool pristine_ = false;   // it holds the initial values
  bool at_anchor_ = false;  // it holds the anchor

  // The job's spans.
  Layout layout_;
  History history_;
  Recovery recovery_;

  // The life.
  Life life_;
  Life left_;       // the newest life that ended here
  Life abandoned_;  // the newest that ended by this seat's own doing
  uint32_t rank_ = 0;
  Step step_ = Step::kAway;
  std::string_view phase_;  // as last reported
  Round round_{1};
  data::RangeSet used_;  // of the granted, in this life; the head's
  CutAgreement agreement_;
  std::optional<Sequence> asked_;  // stored_through of the last AgreeCut
  Instant ask_not_before_;
  CutReply cut_;
  Sequence outcome_sequence_;  // the cut is not below it
  LiveBook live_;
  OwedBook book_;

  // The round.
  data::RangeSet round_ranges_;
  RoundScalars round_scalars_;
  double round_loss_ = 0;  // times samples
  int ended_delay_ = 0;

  // The attempt.
  Attempt newest_attempt_;
  std::unique_ptr<Exchange> exchange_;
  bool result_awaited_ = false;  // its commit is known, its end is not
  Attempt finished_attempt_;     // named this worker, and ended here
  std::optional<StoredResultFact> stored_;

  // What was asked.
  struct Said {
    SeatState state = SeatState::kStarting;
    Life life;
    bool ready = false;
    Sequence applied;
    Sequence stored_through;
    friend bool operator==(const Said&, const Said&) = default;
  };
  struct Evaluated {
    Evaluation fact;
    uint64_t samples_max = 0;
  };
  std::vector<Evaluated> evaluations_;
  std::vector<Generated> generated_;

  SeatCounters counters_;
  std::optional<Instant> stalled_since_;
  Said said_;
  Instant now_;  // of the last fact
};

template <typename T, typename Handler>
Done<T> Seat::Impl::OnTrainer(Handler handler) {
  ++trainer_uses_;
  return trainer_scope_.Wrap(
      [this, inner = life_scope_.Wrap(std::move(handler))](Instant now,
                                                           T result) mutable {
        --trainer_uses_;
        inner(now, std::move(result));
        Advance(now);
      });
}

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_SEAT_IMPL_H_
