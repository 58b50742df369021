// worker/core/seat_fragment.h
//
// Runs one fragment of the model in a seat (PROTOCOL 4.3 and 4.4). It has the
// fragment's log and the states folded from it, what the trainer has learned in
// it since its last boundary, what it owes, and the attempt that is open for
// it. The seat decides when the fragment has a boundary.
#ifndef SKERRY_WORKER_CORE_SEAT_FRAGMENT_H_
#define SKERRY_WORKER_CORE_SEAT_FRAGMENT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "base/ids.h"
#include "base/instant.h"
#include "protocol/contribution.h"
#include "protocol/exchange.h"
#include "protocol/fragment_facts.h"
#include "protocol/fragment_orders.h"
#include "protocol/peers.h"
#include "protocol/seat_counters.h"
#include "worker/core/effects.h"
#include "worker/core/exchange.h"
#include "worker/core/fragment_ports.h"
#include "worker/core/history.h"
#include "worker/core/job_settings.h"
#include "worker/core/layout.h"
#include "worker/core/live.h"
#include "worker/core/owed_book.h"
#include "worker/core/recovery.h"
#include "worker/core/scope.h"

namespace skerry::worker {

using protocol::FragmentFacts;
using protocol::FragmentOrders;
using protocol::SeatCounters;

struct SeatFragmentOptions {
  uint32_t index = 0;
  JobId job;
  std::string worker;
  absl::Duration retry_interval = absl::Milliseconds(250);
  int fetches_max = 8;
  uint64_t part_bytes = compression::kFramePayloadBytesMax;
};

class SeatFragment {
 public:
  // `advance` is called when something that was asked of `effects` is done.
  // `fail` is called when the seat cannot go on. `effects` outlive the
  // fragment. It takes its own files from `on_disk`.
  using Advance = absl::AnyInvocable<void(Instant now)>;
  using Fail = absl::AnyInvocable<void(Instant now, const std::string& why)>;
  SeatFragment(SeatFragmentOptions options,
               const std::vector<StoredFile>& on_disk, const Effects& effects,
               Advance advance, Fail fail);
  SeatFragment(const SeatFragment&) = delete;
  SeatFragment& operator=(const SeatFragment&) = delete;

  // --- What it is. `layout`: the elements of its spans in the whole model.
  void Configure(const JobSettings& settings, Layout layout);
  // InvalidArgument when they are not of this model.
  absl::Status CheckOrders(const FragmentOrders& orders) const;
  void TakeOrders(const FragmentOrders& orders,
                  const std::vector<SpanHolder>& holders);
  void BeginLife(Life life);
  void EndLife();

  uint32_t index() const { return options_.index; }
  const Layout& layout() const { return layout_; }
  const FragmentOrders& orders() const { return orders_; }
  History& history() { return history_; }
  const History& history() const { return history_; }
  Recovery& recovery() { return recovery_; }
  const Recovery& recovery() const { return recovery_; }
  LiveBook& live() { return live_; }
  OwedBook& book() { return book_; }
  const OwedBook& book() const { return book_; }
  // Returns the held spans as elements of the whole model. Requires: at least
  // one span is held.
  ElementRange HeldElements() const {
    return layout_.Of(recovery_.begin(), recovery_.end());
  }

  // --- Its rounds.
  //
  // The trainer begins on samples, and has done so many of them.
  void AddSamples(const data::RangeSet& ranges);
  void AddReport(const RunReport& report, uint64_t samples);
  // Whether the trainer has learnt anything in it since its last boundary.
  bool IsAhead() const { return !trained_.empty(); }
  // Returns the contribution that this makes for `round`.
  Contribution Produced(Round round) const;
  // Called at a boundary of this fragment. The trained values become a
  // contribution, and the start of the next round has to be loaded.
  void OnBoundary();
  void OnLoaded() { at_boundary_ = false; }
  bool at_boundary() const { return at_boundary_; }
  // Whether the live values hold nothing of this replica that is on its way, as
  // the head has said it last. IsBack() says it of the state at `applied`, by
  // what this worker knows.
  bool back() const { return back_; }
  void SetBack(bool back);
  bool IsBack(Sequence applied) const;
  // The delay, in rounds, of the round that ended at the last boundary
  // (optimizer::DelayAt).
  int ended_delay() const { return ended_delay_; }
  // What a late merge keeps of that round (optimizer::OwnShare): the job's own
  // number, or what the newest result measured that LearnShare() has seen.
  // Nothing was measured before the first result, nor where the history does
  // not reach back to it.
  float own_share() const {
    return settings_.outer.own_share.has_value()
               ? static_cast<float>(*settings_.outer.own_share)
               : measured_share_;
  }
  // The newest result of the state is applied. Later it may be forgotten.
  void LearnShare();
  // Whether a contribution waits for its outcome, or is being added or settled.
  bool Waits() const { return book_.pending() || book_.busy(); }
  // The sequence of the newest result that took in a contribution of this life.
  // No cut is below it.
  Sequence outcome_sequence() const { return outcome_sequence_; }

  // --- Its attempts.
  void ConsiderOutcome(Instant now);
  void ConsiderExchange(Instant now);
  FrameVerdict OnFrame(const compression::FrameHeader& header,
                       const SharedBytes& payload);
  // The job's folder was removed and made anew: what was in it is no longer
  // reported, and stored again where it is at hand.
  void OnFolderGone();
  // The state of the open attempt in one word for the log; empty without one.
  std::string_view Phase() const;
  Attempt open_attempt() const {
    return exchange_ == nullptr ? Attempt() : exchange_->attempt();
  }

  // --- What there is to say. `with_pin`: it can do its part.
  FragmentFacts Facts(bool with_pin) const;
  // Adds what exchanges have sent and received so far.
  void AddCounters(SeatCounters& counters) const;
  Values OwedOf(uint32_t span) const;

 private:
  void OpenAttempt(const OpenExchange& open, uint32_t self);
  void OnExchangeEnd(Instant now, absl::Status status);
  // Stores the result of the exchange, which has ended well, and reports it
  // then.
  void StoreResult();
  void CloseExchange();
  void Event(std::string_view line);
  void Changed() { effects_.host.StatusChanged(); }

  const SeatFragmentOptions options_;
  FragmentDisk disk_;
  FragmentBulk bulk_;
  const Effects effects_;  // with those
  Advance advance_;
  Fail fail_;
  // Before all whose callbacks it silences.
  Scope scope_;
  JobSettings settings_;
  Layout layout_;
  FragmentOrders orders_;
  Life life_;
  History history_;
  Recovery recovery_;
  LiveBook live_;
  OwedBook book_;

  // Since its last boundary.
  data::RangeSet trained_;
  protocol::RoundScalars scalars_;
  double loss_ = 0;  // times samples
  // How many of the samples the trainer measured a loss of.
  uint64_t measured_ = 0;
  bool at_boundary_ = false;
  bool back_ = true;
  // Inner steps since the last boundary, while !back_; and how many they were
  // when the last result was applied.
  std::optional<uint64_t> steps_apart_;
  uint64_t late_steps_ = 0;
  float measured_share_ = 1;
  int ended_delay_ = 0;
  Sequence outcome_sequence_;

  // The attempt.
  Attempt newest_attempt_;
  std::unique_ptr<Exchange> exchange_;
  bool result_awaited_ = false;  // its commit is known, its end is not
  Attempt finished_attempt_;     // named this worker, and ended here
  std::optional<protocol::StoredResult> stored_;
  SeatCounters closed_;  // of exchanges that have ended
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_SEAT_FRAGMENT_H_
