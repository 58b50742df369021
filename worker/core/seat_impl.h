// worker/core/seat_impl.h
//
// Holds the state behind Seat. seat.cc takes facts and answers questions.
// seat_round.cc walks through rounds, seat_boundary.cc through boundaries, and
// seat_point.cc through the apply points inside. seat_phase.cc says what the
// seat is doing, and seat_facts.cc what it has. seat_trainer.cc and
// seat_inner.cc talk to the trainer. seat_fragment.h is a fragment's state.
//
// Every fact ends in Advance(), which does everything that has become possible.
// So the order in which facts arrive matters only where the protocol says so.
#ifndef SKERRY_WORKER_CORE_SEAT_IMPL_H_
#define SKERRY_WORKER_CORE_SEAT_IMPL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "worker/core/apply_points.h"
#include "worker/core/cut_agreement.h"
#include "worker/core/inner_schedule.h"
#include "worker/core/patient_disk.h"
#include "worker/core/round_metrics.h"
#include "worker/core/scope.h"
#include "worker/core/seat.h"
#include "worker/core/seat_fragment.h"
#include "worker/core/seat_said.h"
#include "worker/core/seat_step.h"

namespace skerry::worker {

using protocol::SeatState;

class Seat::Impl {
 public:
  Impl(SeatOptions options, const Effects& effects);
  ~Impl();

  void OnOrders(Instant now, Revision revision, const JobOrders& orders,
                const JobSettings& settings);
  void OnTrainerReady(Instant now, const TrainerDescription& trainer);
  void OnImported(Instant now, const StoredFile& base);
  void OnTrainerFailed(Instant now, const std::string& reason);
  void OnTrainerEnded(Instant now);
  bool WantsTrainer() const;
  bool IsAtRest() const;
  void OnLifeLost(Instant now, const std::string& reason);
  void SetDraining(Instant now, bool draining);
  FrameVerdict OnFrame(Instant now, const compression::FrameHeader& header,
                       const SharedBytes& payload);
  absl::StatusOr<SharedBytes> OnFetch(const PieceKey& key);
  absl::StatusOr<SharedBytes> PieceOf(const PieceKey& key) const;
  void OnAgreeCut(Instant now, const CutRequest& request, CutAnswer answer);
  void OnFolderGone(Instant now);
  Attempt HighestAttempt() const;
  std::optional<Instant> NextDeadline() const;
  void OnTime(Instant now);
  void Advance(Instant now);
  JobFacts Facts() const;
  bool AwaitsInner(Sequence sequence) const;
  Audit GetAudit(uint32_t fragment) const {
    return fragments_[fragment]->book().GetAudit();
  }
  Values AnchorOf(uint32_t span, uint32_t fragment) const;
  Values OwedOf(uint32_t span, uint32_t fragment) const {
    return fragments_[fragment]->OwedOf(span);
  }

 private:
  using Step = SeatStep;

  // --- seat.cc ---
  void TakeOrders(Instant now);
  bool Configure();
  absl::Status CheckOrders() const;
  void TakeHoldings();
  void TakeLife(Instant now);
  // Says that the life in the orders is not lived here.
  void GiveBackLife();
  // Whether every held span has a state to fold on.
  bool HoldsState() const;
  void EndLife(const std::string& reason);
  // What asked the trainer for something begins again with another one.
  void LoseTrainer();
  // Leaves the life by itself; the coordinator hears it.
  void Abandon(Instant now, const std::string& reason);
  void Fail(Instant now, const std::string& reason);
  void OnDisk(Instant now);
  // Empty while it stores.
  std::string DiskError() const;
  bool Works() const { return failure_.empty() && disk_.error().empty(); }
  void AdvanceOnce(Instant now);
  void CountStall(Instant now);

  // --- seat_facts.cc ---
  // Calls for a Status when anything that the coordinator decides by has
  // changed: it must not wait for the next heartbeat.
  void ConsiderStatus();
  SeatState State() const;

  // --- seat_phase.cc ---
  std::string_view PhaseOfRound() const;
  // The phase of the first fragment that has an open attempt; empty without
  // one.
  std::string_view PhaseOfExchange() const;
  // Writes a trace line if the phase has changed.
  void ReportPhase();
  void DeleteFiles();
  void Changed() { effects_.host.StatusChanged(); }
  bool over() const { return orders_ && IsOver(orders_->phase); }
  bool StartsRounds() const { return !draining_ && !orders_->paused; }
  // This worker holds spans [begin(), end()) of every fragment.
  uint32_t begin() const { return fragments_[0]->recovery().begin(); }
  uint32_t end() const { return fragments_[0]->recovery().end(); }
  // Whether every fragment is ready (recovery.h), is at its newest sequence, or
  // has neither a contribution that waits nor training since its last boundary.
  bool AllReady() const;
  bool AllNewest() const;
  bool AllDelivered() const;
  // Whether every result with a contribution of this life is stored, and all
  // results before it. Otherwise nobody could fold it on what this worker has.
  bool AllFollow() const;
  // The sequences of all fragments, added up.
  Sequence StateApplied() const;

  // --- seat_round.cc ---
  bool StepOnce(Instant now);
  bool StepAway(Instant now);
  // Stores the present state as a base, which can be saved and begun with.
  void KeepState();
  bool StepJoin(Instant now);
  bool StepStart(Instant now);
  void StartRun(const data::RangeSet& ranges);
  void OnRun(Instant now, uint64_t samples, absl::StatusOr<RunReport> report);
  bool StepRunEnded(Instant now);
  void AddRound(Instant now);
  bool StepReady();
  bool StepClose();
  bool StepResting();
  bool Final() const;
  uint32_t group_size() const {
    return static_cast<uint32_t>(orders_->holders.size());
  }
  uint64_t replica_batch() const {
    return uint64_t{settings_.batch_samples} * group_size();
  }

  // --- seat_boundary.cc ---
  bool StepCut(Instant now);
  void AskCut(Instant now);
  void DecideCut(Instant now);
  // The cut of every fragment that may be changed now, or nothing while some of
  // them are not known.
  std::optional<CutReply> NextCut(const std::vector<Sequence>& agreed) const;
  // Whether some fragment has to know its outcome before the next round.
  bool AwaitsOutcome() const;
  // The fragment that delivers what it has although no round ends; none when
  // none should.
  std::optional<uint32_t> Delivers(bool awaits) const;
  // The fragment whose boundary ends the next round: that which is furthest
  // behind, so that all replicas come to the same one.
  uint32_t NextTurn() const;
  void OnCut(Instant now, absl::StatusOr<CutReply> reply);
  bool StepFold(Instant now);
  // StartMerge() writes the next live values of these fragments, StartLoad()
  // has the trainer load them one after the other, and then the step is
  // `after`. `exact` says that the anchor is loaded.
  void StartMerge(std::vector<uint32_t> fragments, LiveChange::At why,
                  Step after);
  void StartLoad(std::vector<uint32_t> fragments, bool exact, Step after);

  // --- seat_point.cc ---
  // In how many runs the round of this reply is made.
  uint32_t RunsOf(const CutReply& reply) const;
  bool StepPoint(Instant now);
  void DecidePoint();
  void TakePoint();
  bool StepPointFold();
  bool StepGoOn();

  // --- seat_trainer.cc ---
  bool trainer_free() const { return trainer_ready_ && trainer_uses_ == 0; }
  // A handler of a trainer's answer. It is skipped when the life has ended, and
  // the trainer counts as used until it ran.
  template <typename T, typename Handler>
  Done<T> OnTrainer(Handler handler);
  void OnTrainerError(Instant now, const absl::Status& status);
  void ConsiderInitial(Instant now);
  // Whether the trainer begins with the values that the job began with. True
  // while there was no trainer.
  bool HasInitial() const;
  // Why the held spans get no state for now; empty while they have or get one.
  std::string InitialTrouble() const;

  // --- seat_inner.cc ---
  // Has a fresh trainer take the inner state that was saved last. Returns
  // whether it has to be waited for.
  bool BeginInner();
  void BeginCold(const std::string& why);
  void TakeInner(Instant now, const absl::StatusOr<InnerProgress>& report);
  // Saves the inner state if that is due; true when it does. `is_last`: no
  // state follows in which this trainer has a part.
  bool SaveInner(Instant now, bool is_last);
  // Starts one evaluation or generation that is due; true when it did.
  bool RunTask();
  bool RunEvaluation();
  bool RunGeneration();
  // The first prompt without an answer; null when there is none.
  const protocol::GenerateOrder* DueGeneration() const;
  // An answer is kept for as long as the question is asked.
  void ForgetAnswers();
  // Answers every prompt that waits with an error.
  void RefuseGeneration(const std::string& error);

  const SeatOptions options_;
  PatientDisk disk_;
  const Effects effects_;  // with that disk
  // Before all whose callbacks they silence.
  Scope seat_scope_;
  Scope trainer_scope_;  // ends with the trainer
  Scope life_scope_;     // ends with the life
  std::optional<JobOrders> orders_;
  JobSettings settings_;  // with the newest orders
  Revision revision_;
  bool advancing_ = false;
  bool again_ = false;
  bool draining_ = false;
  Sequence kept_at_;  // of the last state that KeepState() has stored
  std::string failure_;

  // Trainer.
  std::optional<TrainerDescription> trainer_;
  bool trainer_ready_ = false;
  int trainer_uses_ = 0;
  bool restarting_ = false;
  // It has joined a group of several ranks, which load together.
  bool in_group_ = false;
  InnerSchedule inner_;
  bool pristine_ = false;   // it holds the initial values
  bool at_anchor_ = false;  // it holds the anchor

  // One at least.
  std::vector<std::unique_ptr<SeatFragment>> fragments_;
  bool configured_ = false;
  uint64_t elements_ = 0;       // of the model; 0 until it is configured
  uint64_t average_begin_ = 0;  // likewise; 0 when none is averaged

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
  // stored_through of the last AgreeCut
  std::optional<std::vector<Sequence>> asked_;
  Instant ask_not_before_;
  CutReply cut_;
  uint32_t turn_ = 0;  // the fragment whose boundary ends the round
  RoundRuns runs_;
  size_t moved_ = 0;  // of the fragments in cut_, at an apply point
  StopTimes stop_times_;

  // What was asked.
  struct Evaluated {
    protocol::EvaluationFact fact;
    uint64_t samples_max = 0;
  };
  std::vector<Evaluated> evaluations_;
  std::vector<protocol::GeneratedFact> generated_;

  RoundMetrics measured_;      // in the present round
  protocol::Metrics metrics_;  // of the last run's round
  SeatCounters counters_;
  std::optional<Instant> stalled_since_;
  SeatSaid said_;
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
